internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Copies of ranges of a video track: unchanged packets where keyframes permit, or packets with re-encoded
/// edges.
extension CopyPlanner {
    private var isSmart: Bool { cut == .smart || cut == .smartOrExact }

    /// Returns the encoder of the edges, or the obstacle if `encode` excludes re-encoded edges. The encoder is nil for the
    /// one that matches the source most closely, and for cuts without re-encoded edges.
    private func edges(
        of track: TrackDescription
    ) -> (encoder: EncoderConfiguration?, obstacle: SmartCut.Obstacle?) {
        guard isSmart else { return (nil, nil) }
        do throws(SmartCut.Obstacle) {
            return (try edgeEncoder.decide(track), nil)
        } catch {
            return (nil, error)
        }
    }

    func frames(
        _ track: TrackDescription, range: TimeRange, into sink: inout DiagnosticSink
    ) -> Result? {
        guard case .file(let path, _) = source, track.index != widenedTrack else { return .copy }
        let (encoder, obstacle) = edges(of: track)
        let hasEdges = isSmart && obstacle == nil
        do throws(SourceProblem) {
            guard
                let found = try prober.cut(
                    track.index, of: path, range: range, damagePolicy: job.onDamage?.value ?? .fail,
                    edges: hasEdges ? .encoded(encoder) : .none),
                let problem = cut == .keyframe ? found.problemWithoutLeading : found.problem
            else { return .copy }
            if job.hidesFramesOfCuts, container.value.hasEditLists, output.media?.fragmentInterval == nil {
                return .copy
            }
            guard isSmart else {
                report(problem, range: range, into: &sink)
                return nil
            }
            return smart(found.smart, obstacle ?? found.obstacle, track, into: &sink)
        } catch {
            sink.error(.sourceUnreadable, "\(path): \(error)", at: location)
            return nil
        }
    }

    /// Copies several ranges, joined in order. Without `smart`, each must begin and end where packets can be copied.
    func joinedFrames(
        _ track: TrackDescription, into sink: inout DiagnosticSink
    ) -> Result? {
        guard case .file(let path, _) = source else { return .copy }
        let (encoder, obstacle) = edges(of: track)
        do throws(SourceProblem) {
            let found = try prober.joinedCut(track.index, of: path, ranges: ranges, encoder: encoder)
            if isSmart {
                return smart(
                    obstacle == nil ? found?.smart : nil, obstacle ?? found?.obstacle, track, into: &sink)
            }
            if let cut = found?.smart, !cut.hasEdges { return .smartCut(cut) }
            sink.error(
                .copyRange,
                "\(track.label) can't be copied: \(found?.obstacle?.description ?? "not all ranges begin at a keyframe and end where a copy can")",
                at: rangeLocation, notes: [Diagnostic.Note("`copy` is here", at: location)],
                help: "use `cut: smart`, which re-encodes only the edges of the ranges")
            return nil
        } catch {
            sink.error(.sourceUnreadable, "\(path): \(error)", at: location)
            return nil
        }
    }

    private func smart(
        _ smart: SmartCut?, _ obstacle: SmartCut.Obstacle?, _ track: TrackDescription,
        into sink: inout DiagnosticSink
    ) -> Result? {
        do throws(SmartCut.Obstacle) {
            guard let cut = smart else { throw obstacle ?? .nothingToCopy }
            if let obstacle = cut.obstacle(
                in: container.value, codec: track.codec, isInterlaced: track.isInterlaced)
            {
                throw obstacle
            }
            return .smartCut(cut)
        } catch {
            let message = "\(track.label) doesn't support a smart cut: \(error)"
            if cut == .smartOrExact {
                let location = self.location
                guard let action = otherwise ?? TrackRule.Action.nearLossless(track.codec, at: location)
                else {
                    sink.error(
                        .copyRange, message, at: rangeLocation,
                        help: "add `encode` for ranges that are re-encoded")
                    return nil
                }
                return .fallBack(action, why: message)
            }
            sink.error(
                .copyRange, message, at: rangeLocation,
                notes: [
                    Diagnostic.Note("`cut` is here", at: job.cut?.range),
                    Diagnostic.Note("`copy` is here", at: location),
                ],
                help:
                    "use `cut: smart-or-exact` to re-encode the range if necessary, or `cut: keyframe` to widen it"
            )
            return nil
        }
    }

    private func report(_ problem: CutScan.Problem, range: TimeRange, into sink: inout DiagnosticSink) {
        let notes = [Diagnostic.Note("`copy` is here", at: location)]
        switch problem {
        case .startsInsideGroup(let before, let after):
            let near = [before, after].compactMap { $0.map { "\($0) s" } }.joined(separator: " and ")
            sink.error(
                .copyRange,
                "copied frames must begin at a keyframe, but there is none at \(range.start) s",
                at: rangeLocation, notes: notes,
                help: (near.isEmpty ? "" : "nearest keyframes: \(near); ")
                    + "`cut: keyframe` widens the range, `cut: smart` re-encodes only its edges")
        case .hasLeadingFrames:
            sink.error(
                .copyRange,
                "the keyframe at \(range.start) s is followed by frames that refer to earlier ones (open GOP)",
                at: rangeLocation, notes: notes,
                help: "`cut: smart` copies the frames after it, `encode` re-encodes them all")
        case .endsInsideGroup(let next):
            sink.error(
                .copyRange, "frames before \(range.end) s refer to later ones, so a copy can't end there",
                at: rangeLocation, notes: notes,
                help: (next.map { "it can end at \($0) s; " } ?? "")
                    + "`cut: keyframe` widens the range, `cut: smart` re-encodes only its edges")
        }
    }
}
