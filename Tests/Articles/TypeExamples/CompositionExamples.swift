import Foundation
import TandemKit

/// The examples on the pages of compositions, mixes and errors.
enum CompositionExamples {
    static func composition(first: URL, second: URL) throws -> Asset {
        // begin Composition
        var composition = Composition()
        try composition.append(Asset(url: first))
        try composition.append(
            Asset(url: second), join: .dissolve, overlap: MediaTime(seconds: 0.5))
        let asset = Asset(.composition(composition), environment: MediaEnvironment())
        // end Composition
        return asset
    }

    static func join(composition: Composition, next: Asset) throws -> Composition {
        var composition = composition
        // begin JoinKind
        try composition.append(next, join: .wipeLeft, overlap: MediaTime(seconds: 0.5))
        // end JoinKind
        return composition
    }

    static func layer(composition: Composition) -> Composition {
        var composition = composition
        // begin Layer
        let placement = ClipPlacement(
            source: 0, track: 0,
            sourceRange: TimeRange(start: .zero, duration: MediaTime(seconds: 1)),
            timeRange: TimeRange(start: .zero, duration: MediaTime(seconds: 1)))
        let corner = PixelRectangle(x: 16, y: 16, width: 80, height: 60)
        let settings = VideoOutputSettings(
            pixelFormat: .yuva420p, size: PixelSize(width: corner.width, height: corner.height))
        composition.layers.append(
            Layer(
                content: .frames(placement, in: corner, settings: settings),
                timeRange: placement.timeRange))
        // end Layer
        return composition
    }

    static func mix(track: AssetTrack) -> AudioMix {
        // begin AudioMix
        let fade = VolumeEnvelope.rising(from: .zero, for: MediaTime(seconds: 1))
        let mix = AudioMix(
            inputs: [AudioMix.Input(track: track.index, volume: fade)], sampleRate: 48_000,
            layout: .stereo)
        // end AudioMix
        return mix
    }

    static func envelope() -> VolumeEnvelope {
        // begin VolumeEnvelope
        let second = MediaTime(seconds: 1)
        let envelope = VolumeEnvelope.rising(from: .zero, for: second)
            .falling(until: MediaTime(seconds: 10), for: second)
        // end VolumeEnvelope
        return envelope
    }

    static func videoComposition(track: AssetTrack, session: ExportSession) {
        // begin VideoComposition
        var composition = VideoComposition(of: track)
        composition.canvas.frameRate = Rational(25, 1)
        session.videoComposition = composition
        // end VideoComposition
    }

    static func error(export: () async throws -> Void) async -> String {
        // begin TandemError
        do {
            try await export()
            return "done"
        } catch let error as any TandemError {
            return error.localizedDescription + (error.recoverySuggestion.map { " " + $0 } ?? "")
        } catch {
            return "\(error)"
        }
        // end TandemError
    }

    static func kind(of error: any Error) -> String {
        // begin ErrorKind
        switch ErrorKind(error) {
        case .cancelled: return "cancelled"
        case .diskFull, .destinationNotWritable: return "choose another folder"
        default: return error.localizedDescription
        }
        // end ErrorKind
    }

    static func details(of error: any Error) -> String? {
        // begin MediaError
        if let error = error as? MediaError, let track = error.track {
            return "\(track): \(error)"
        }
        // end MediaError
        return nil
    }
}
