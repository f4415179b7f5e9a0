internal import CFFmpeg

extension Demuxer {
    /// Returns the timestamp of a stream's last indexed keyframe at or before `timestamp`, in the stream's
    /// time base; nil if there is no index or no such keyframe (`avformat_index_get_entry_from_timestamp`).
    /// In mov and mp4, index timestamps are decoding times.
    package func indexedKey(of index: Int, notAfter timestamp: Int64) -> Int64? {
        if let (part, own) = part(of: index) {
            return part.demuxer.indexedKey(of: own, notAfter: timestamp)
        }
        let origin = origins[index] ?? 0
        guard let stream = tandem_stream(context, UInt32(clamping: index)),
            let entry = avformat_index_get_entry_from_timestamp(
                stream, timestamp.adding(upToLimit: origin), Int32(AVSEEK_FLAG_BACKWARD))
        else { return nil }
        return entry.pointee.timestamp - origin
    }
}
