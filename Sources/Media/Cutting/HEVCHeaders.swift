/// Parameter sets of HEVC as the container says them (`hvcC`, ISO/IEC 14496-15).
struct HEVCHeaders: Hashable {
    /// Bytes of a unit's length.
    let lengthSize: Int
    /// Video, sequence and picture parameter sets, in the order they must come in.
    let sets: [[UInt8]]
    /// The record, which says that more sets come in band.
    let configurationRecord: [UInt8]

    /// Reads `hvcC`; nil where it is none or has no sets.
    init?(_ extradata: [UInt8]) {
        guard extradata.count > 23, extradata[0] == 1 else { return nil }
        var record = extradata
        lengthSize = Int(extradata[21] & 3) + 1
        var byType: [UInt8: [[UInt8]]] = [:]
        var position = 23
        for _ in 0..<extradata[22] {
            guard position + 3 <= extradata.count else { return nil }
            let type = extradata[position] & 0x3f
            // Cleared: "all of them are here".
            record[position] &= 0x7f
            let count = Int(extradata[position + 1]) << 8 | Int(extradata[position + 2])
            position += 3
            for _ in 0..<count {
                guard position + 2 <= extradata.count else { return nil }
                let length = Int(extradata[position]) << 8 | Int(extradata[position + 1])
                guard length > 2, position + 2 + length <= extradata.count else { return nil }
                byType[type, default: []].append(
                    Array(extradata[(position + 2)..<(position + 2 + length)]))
                position += 2 + length
            }
        }
        sets = [32, 33, 34].flatMap { byType[$0] ?? [] }
        guard byType[33] != nil, byType[34] != nil else { return nil }
        configurationRecord = record
    }
}
