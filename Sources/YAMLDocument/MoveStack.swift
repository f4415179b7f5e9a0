/// A stack from which top elements can be moved to an array of exactly their number, without copies and reference
/// counting.
struct MoveStack<Element>: ~Copyable {
    private var elements: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 64) {
        self.capacity = max(1, capacity)
        elements = .allocate(capacity: self.capacity)
    }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (elements + count).initialize(to: element)
        count += 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: elements, count: count)
        elements.deallocate()
        elements = larger
        capacity *= 2
    }

    /// Removes and returns all elements from an index on.
    mutating func take(from start: Int) -> [Element] {
        precondition(start <= count)
        let taken = count - start
        guard taken > 0 else { return [] }
        count = start
        let first = elements + start
        return Array(unsafeUninitializedCapacity: taken) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: first, count: taken)
            initialized = taken
        }
    }

    /// Returns the index of the first element at or after `start` that satisfies `fits`; nil if there is none.
    func index(from start: Int, where fits: (borrowing Element) -> Bool) -> Int? {
        var index = start
        while index < count {
            if fits(elements[index]) { return index }
            index += 1
        }
        return nil
    }

    /// Returns the element at an index, which must exist.
    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count)
        return elements[index]
    }
}
