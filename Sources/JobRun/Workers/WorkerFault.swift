internal import Dispatch
internal import Glibc
internal import JobPlan
internal import Locking
internal import Media

// Fault injection for tests, compiled into debug builds only. In a release build neither an environment variable nor a
// message can inject a fault.

#if DEBUG

    /// A fault of a worker, injected to test the supervisor's reaction.
    enum WorkerFault: String, Codable, Sendable {
        /// The worker calls `abort`.
        case abort
        /// The worker loops forever and doesn't react to messages.
        case hang
        /// The worker loops forever, and the supervisor's time limit without activity is a second for this worker
        /// alone: other workers may make no progress for longer on a busy machine.
        case stall
        /// The worker allocates memory indefinitely.
        case memory
        /// The worker sends bytes that can't be decoded as a message.
        case invalidMessage
        /// The worker reports values outside of their valid ranges.
        case impossibleReport
        /// The worker sends file descriptors to the supervisor.
        case unsolicitedDescriptors
        /// The worker requests a file that isn't one of its sources.
        case foreignFile
        /// The worker calls `abort` after its output is complete.
        case abortAfterOutput
        /// The worker waits four seconds after its output is complete.
        case delayAfterOutput
        /// The worker first occupies Dispatch's shared threads for three seconds, so that Dispatch starts to monitor
        /// them.
        case busyThreads

        /// Injects the fault before the work starts.
        func inject(_ channel: MessageChannel) {
            WorkerMain.printError("injected fault: \(rawValue)")
            switch self {
            case .abort: Glibc.abort()
            case .hang, .stall: while true {}
            case .memory:
                while let block = malloc(64 << 20) { memset(block, 1, 64 << 20) }
            case .invalidMessage:
                var noise: [UInt8] = [255, 255, 255, 255, 1, 2, 3]
                write(channel.descriptor, &noise, noise.count)
            case .unsolicitedDescriptors:
                _ = channel.send(
                    WorkerMessage.Report.progress(WorkProgress(), activity: 1), descriptors: [STDERR_FILENO])
            case .foreignFile:
                _ = channel.send(
                    WorkerMessage.Report.requestFile(WorkerMessage.ImageIndex(sequence: 0, index: 1 << 40)))
            case .busyThreads:
                let end = DispatchTime.now() + 3
                let group = DispatchGroup()
                for _ in 0..<32 {
                    DispatchQueue.global().async(group: group) { @Sendable in
                        while DispatchTime.now() < end { poll(nil, 0, 10) }
                    }
                }
                group.wait()
            case .impossibleReport, .abortAfterOutput, .delayAfterOutput: break
            }
        }

        /// Injects the fault after the output is complete.
        func injectAfterOutput() {
            if self == .abortAfterOutput { Glibc.abort() }
            if self == .delayAfterOutput { sleep(4) }
        }

        /// Adapts the supervisor's limits of the worker to the fault.
        func adapt(_ limits: inout WorkerLimits) {
            guard self == .stall else { return }
            (limits.stallTimeout, limits.probeStallTimeout, limits.trialTimeout) = (1, 1, 1)
        }

        /// Returns the outcome to report, altered by the fault.
        func altered(_ outcome: WorkOutcome) -> WorkOutcome {
            guard self == .impossibleReport, case .finished(var findings) = outcome else { return outcome }
            findings.outputs[0].tracks[0].appendedSamples = .min
            return .finished(findings)
        }

        /// Returns the reply to send, altered by the fault.
        func altered(_ reply: ProbeReply) -> ProbeReply {
            guard self == .impossibleReport, case .response(.description(var description)) = reply else {
                return reply
            }
            description.tracks[0].width = 1 << 62
            return .response(.description(description))
        }
    }

    /// Faults to inject, from `TANDEM_WORKER_FAULTS`: a list of `job:fault`, or `file:fault` for a probe of that file.
    /// Each is injected once. `probe:seconds` shortens the supervisor's time limit of probes.
    final class WorkerFaultQueue: Sendable {
        private let faults: Guarded<[String: [WorkerFault]]>

        init(_ limits: inout WorkerLimits) {
            var faults: [String: [WorkerFault]] = [:]
            let text = getenv("TANDEM_WORKER_FAULTS").map { String(cString: $0) } ?? ""
            for entry in text.split(separator: ",") {
                let parts = entry.split(separator: ":")
                if parts.count == 2, parts[0] == "probe", let seconds = Double(parts[1]) {
                    limits.probeTimeout = seconds
                } else if parts.count == 2, let fault = WorkerFault(rawValue: String(parts[1])) {
                    faults[String(parts[0]), default: []].append(fault)
                }
            }
            self.faults = Guarded(faults)
        }

        /// Removes and returns the next fault for a job or a probed file.
        func next(for name: String) -> WorkerFault? {
            faults.withLock { faults in
                guard let fault = faults[name]?.first else { return nil }
                faults[name]?.removeFirst()
                return fault
            }
        }
    }

#endif
