import Dispatch
import Locking
import Testing

@Suite struct SerialQueueTests {
    /// Dispatch runs at most 255 threads. With `DispatchQueue` in place of `SerialQueue`, the first 255 callers would
    /// wait for enqueued work forever, because no thread remains to run it.
    @Test func moreWaitingCallersThanThreads_end() async {
        let done = DispatchGroup()
        for number in 0..<600 {
            DispatchQueue(label: "caller \(number)").async(group: done) { @Sendable in
                let queue = SerialQueue(label: "queue \(number)")
                queue.async {}
                queue.sync {}
            }
        }
        await withCheckedContinuation { continuation in
            done.notify(queue: .global()) { @Sendable in continuation.resume() }
        }
    }

    @Test func workOfManyThreads_neverOverlaps() async {
        let queue = SerialQueue(label: "queue")
        let (done, count) = (DispatchGroup(), Counter())
        for _ in 0..<100 {
            DispatchQueue.global().async(group: done) { @Sendable in
                for _ in 0..<100 { queue.sync { count.value += 1 } }
            }
            for _ in 0..<100 {
                done.enter()
                queue.async {
                    count.value += 1
                    done.leave()
                }
            }
        }
        await withCheckedContinuation { continuation in
            done.notify(queue: .global()) { @Sendable in continuation.resume() }
        }
        #expect(queue.sync { count.value } == 20_000)
    }

    @Test func enqueuedWork_runsInOrder() async {
        let (queue, values) = (SerialQueue(label: "queue"), Values())
        let last: [Int] = await withCheckedContinuation { continuation in
            for number in 0..<1000 { queue.async { values.numbers.append(number) } }
            queue.async { continuation.resume(returning: values.numbers) }
        }
        #expect(last == Array(0..<1000))
    }

    /// Unchecked `Sendable`: used on one serial queue only.
    private final class Counter: @unchecked Sendable { var value = 0 }
    /// Unchecked `Sendable`: used on one serial queue only.
    private final class Values: @unchecked Sendable { var numbers: [Int] = [] }
}
