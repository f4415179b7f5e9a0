internal import Diagnostics
internal import JobSpec
internal import LibAV

/// A part of a submitted batch that encodes some chunks of a job's track and keeps them in a file, for the part that contains
/// the job.
package struct ChunkPart: Codable, Hashable, Sendable {
    /// Path of the job file of the job, as given by the user.
    package var file: String
    /// Id of the job instance.
    package var id: String
    /// Index of the output in the job.
    package var output: Int
    /// Index of the track in the output.
    package var track: Int
    /// Path of the file, relative to the folder of the chunks.
    package var name: String
    package var chunks: ChunksPlan

    /// The job.
    package var key: JobKey { JobKey(file: file, id: id) }

    /// Whether the values are in range. Checked for values from a shared folder.
    package var isValid: Bool {
        output >= 0 && track >= 0 && chunks.isValid && !name.isEmpty
            && name.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}

extension JobPlan {
    /// Returns the job that creates the file of a part beneath a folder; nil if the job has no such track.
    package func chunkJob(_ part: ChunkPart, in folder: String) -> JobPlan? {
        guard outputs.indices.contains(part.output),
            outputs[part.output].tracks.indices.contains(part.track)
        else { return nil }
        var output = outputs[part.output]
        output.id = nil
        output.tracks = [output.tracks[part.track]]
        output.kind = .chunks(part.chunks)
        (output.destination, output.ifExists, output.makesDirectories) = (
            folder + "/" + part.name, .replace, true
        )
        (output.expectations, output.ledger, output.notes, output.warnings) = ([], [], [], [])
        output.expectedSize = nil
        var job = self
        job.id = "\(id)[track=\(part.output):\(part.track),chunks=\(part.chunks.first)]"
        (job.needs, job.publishIf, job.dividedOutputs) = ([], nil, nil)
        job.inputs = [inputs[output.input]]
        output.input = 0
        job.outputs = [output]
        return job
    }

    /// Returns the job with the files in which the parts keep chunks of its tracks.
    package func reading(_ parts: [ChunkPart], in folder: String) -> JobPlan {
        var job = self
        for part in parts where outputs.indices.contains(part.output) {
            guard outputs[part.output].tracks.indices.contains(part.track),
                case .encode(var encoding) = job.outputs[part.output].tracks[part.track].action
            else { continue }
            encoding.chunkFiles =
                (encoding.chunkFiles ?? [])
                + [ChunkFilePlan(path: folder + "/" + part.name, chunks: part.chunks)]
            job.outputs[part.output].tracks[part.track].action = .encode(encoding)
        }
        return job
    }
}

extension TrackPlan.Encoding {
    /// Returns the text that determines how frames are encoded, by which files with chunks are recognized.
    package func chunkIdentity() throws -> String {
        try JSONFormat.text(of: encoder) + (EncoderLibraries.library(of: encoder.encoder) ?? "")
    }
}
