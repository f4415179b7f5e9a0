internal import Diagnostics
internal import Glibc
internal import JobStages

/// Kubernetes: the manifest of an Indexed Job, whose pods run the parts.
struct KubernetesExport: PartExport {
    /// User and group as which the pods run: those of this process, which own the batch's folder.
    var (user, group) = (Int(geteuid()), Int(getegid()))
    var service: String { "Kubernetes" }
    var fileName: String { "job.json" }
    var stopsAtFailures: Bool { false }

    func commands(path: String) -> (start: String, cancel: String?) {
        let path = SafeText.shellWord(path)
        return ("kubectl create --filename \(path)", "kubectl delete --filename \(path)")
    }

    func document(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> String {
        guard let image = submission.resources.image, let claims = submission.resources.claims else {
            throw EngineError(.usage, "--engine kubernetes requires --image and --claim")
        }
        guard claims.contains(where: { $0.contains(folder.batch) }) else {
            throw EngineError(
                .usage, "no --claim has a path that contains the folder of --out, \(folder.batch)")
        }
        do {
            return try JSONFormat.text(of: job(submission, image, claims, in: folder), keys: .unchanged)
        } catch {
            throw EngineError(.environment, "the manifest can't be encoded: \(error)")
        }
    }

    private func job(
        _ submission: Submission, _ image: String, _ claims: [VolumeClaim], in folder: SubmissionFolder
    ) -> IndexedJob {
        let (resources, count) = (submission.resources, submission.parts.count)
        let requested = IndexedJob.Quantities(
            cpu: resources.processors.map(String.init), memory: resources.memory.map(String.init))
        let volumes = claims.indices.map { "claim-\($0)" }
        let container = IndexedJob.Container(
            name: Self.container, image: image,
            // Kubernetes replaces `$(NAME)` in arguments, and `$$` by a dollar sign.
            command: [
                "/bin/sh", folder.file(PartScript.name).replacing("$", with: "$$"), "$(JOB_COMPLETION_INDEX)",
            ],
            resources: IndexedJob.Resources(
                requests: requested, limits: requested),
            volumeMounts: zip(volumes, claims).map { IndexedJob.Mount(name: $0, mountPath: $1.path) }
                + [IndexedJob.Mount(name: Self.temporary, mountPath: "/tmp")],
            securityContext: IndexedJob.ContainerSecurity())
        // Pods never run as root.
        let user = user == 0 ? nil : user
        let pod = IndexedJob.Pod(
            activeDeadlineSeconds: resources.timeLimit.flatMap(ClusterResources.seconds(ofTime:)),
            securityContext: IndexedJob.PodSecurity(
                runAsNonRoot: true, runAsUser: user, runAsGroup: user.map { _ in group }),
            containers: [container],
            volumes: zip(volumes, claims).map { IndexedJob.Volume(name: $0, claim: $1.name) }
                + [IndexedJob.Volume(emptyNamed: Self.temporary)])
        return IndexedJob(
            metadata: IndexedJob.Metadata(
                name: submission.name, labels: ["app.kubernetes.io/name": "tandem"]),
            spec: IndexedJob.Spec(
                completions: count, parallelism: min(count, resources.concurrentParts ?? count),
                backoffLimitPerIndex: Submission.maxRestarts, podFailurePolicy: Self.failurePolicy,
                template: IndexedJob.Template(spec: pod)))
    }

    private static let (container, temporary) = ("tandem", "temporary")
    /// Evictions don't count as restarts. A part whose jobs failed, or that refuses to run, would end in the same way again;
    /// other failures, such as a full disk or a time limit, are repeated.
    private static let failurePolicy = IndexedJob.FailurePolicy(rules: [
        IndexedJob.FailureRule(
            action: "Ignore", onPodConditions: [IndexedJob.Condition(type: "DisruptionTarget")]),
        IndexedJob.FailureRule(
            action: "FailIndex",
            onExitCodes: IndexedJob.ExitCodes(
                containerName: container,
                values: PartScript.finalStatuses.filter { $0 != .succeeded }.map { Int($0.rawValue) })),
    ])
}
