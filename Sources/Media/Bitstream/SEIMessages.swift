/// Parser of SEI messages in H.264 and HEVC.
enum SEIMessages {
    /// Calls `body` with type and bytes of each complete message. `payload` is an SEI NAL unit without its header and
    /// emulation prevention bytes.
    static func forEach(in payload: [UInt8], _ body: (_ type: Int, _ message: [UInt8]) -> Void) {
        var at = 0
        func number() -> Int? {
            var value = 0
            while at < payload.count {
                value += Int(payload[at])
                at += 1
                if payload[at - 1] != 0xff { return value }
            }
            return nil
        }
        while at + 2 < payload.count, let type = number(), let size = number(), at + size <= payload.count {
            body(type, Array(payload[at..<(at + size)]))
            at += size
        }
    }
}
