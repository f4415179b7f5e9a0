internal import CFFmpeg

/// What a file's index tells.
extension Demuxer {
    /// The time stamp of the last key frame of a stream that its index has not after `timestamp`, in the stream's time base; nil
    /// where there is no index, or none so early (`avformat_index_get_entry_from_timestamp`). Index time stamps are decoding
    /// times in mov and mp4.
    package func indexedKey(of index: Int, notAfter timestamp: Int64) -> Int64? {
        let origin = origins[index] ?? 0
        guard let stream = tandem_stream(context, UInt32(clamping: index)),
            let entry = avformat_index_get_entry_from_timestamp(
                stream, timestamp.adding(upToLimit: origin), Int32(AVSEEK_FLAG_BACKWARD))
        else { return nil }
        return entry.pointee.timestamp - origin
    }
}
