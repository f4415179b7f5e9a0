/// The manifest of an Indexed Job of Kubernetes (`batch/v1`), with the keys that a batch uses.
struct IndexedJob: Encodable {
    let apiVersion = "batch/v1"
    let kind = "Job"
    var metadata: Metadata
    var spec: Spec

    struct Metadata: Encodable {
        var name: String
        var labels: [String: String]
    }

    struct Spec: Encodable {
        let completionMode = "Indexed"
        var completions: Int
        var parallelism: Int
        var backoffLimitPerIndex: Int
        /// A pod is replaced once it has ended, not when its end begins.
        let podReplacementPolicy = "Failed"
        var podFailurePolicy: FailurePolicy
        var template: Template
    }

    struct FailurePolicy: Encodable {
        var rules: [FailureRule]
    }

    struct FailureRule: Encodable {
        var action: String
        var onPodConditions: [Condition]?
        var onExitCodes: ExitCodes?
    }

    struct Condition: Encodable {
        var type: String
        let status = "True"
    }

    struct ExitCodes: Encodable {
        var containerName: String
        let `operator` = "In"
        var values: [Int]
    }

    struct Template: Encodable {
        var spec: Pod
    }

    struct Pod: Encodable {
        let restartPolicy = "Never"
        let automountServiceAccountToken = false
        let enableServiceLinks = false
        /// Seconds between SIGTERM, which cancels the running jobs, and SIGKILL.
        let terminationGracePeriodSeconds = 60
        var activeDeadlineSeconds: Int?
        var securityContext: PodSecurity
        var containers: [Container]
        var volumes: [Volume]
    }

    struct PodSecurity: Encodable {
        var runAsNonRoot: Bool
        var runAsUser: Int?
        var runAsGroup: Int?
        let seccompProfile = ["type": "RuntimeDefault"]
    }

    struct Container: Encodable {
        var name: String
        var image: String
        var command: [String]
        var resources: Resources
        var volumeMounts: [Mount]
        var securityContext: ContainerSecurity
    }

    struct ContainerSecurity: Encodable {
        let allowPrivilegeEscalation = false
        let readOnlyRootFilesystem = true
        let capabilities = ["drop": ["ALL"]]
    }

    struct Resources: Encodable {
        var requests: Quantities
        var limits: Quantities
    }

    struct Quantities: Encodable {
        var cpu: String?
        var memory: String?
    }

    struct Mount: Encodable {
        var name: String
        var mountPath: String
    }

    struct Volume: Encodable {
        var name: String
        private var persistentVolumeClaim: [String: String]?
        private var emptyDir: [String: String]?

        /// Creates a volume of a persistent volume claim.
        init(name: String, claim: String) {
            (self.name, persistentVolumeClaim) = (name, ["claimName": claim])
        }

        /// Creates an empty volume.
        init(emptyNamed name: String) { (self.name, emptyDir) = (name, [:]) }
    }
}
