/// An element of an XML document.
struct XMLElement {
    let name: String
    private var attributes = ""
    private var children: [XMLElement] = []
    private var content: String?

    init(_ name: String) { self.name = name }

    /// Creates an element that contains text.
    init(_ name: String, text: String) {
        self.name = name
        content = Self.escaped(text)
    }

    /// Adds an attribute unless its value is nil.
    mutating func set(_ attribute: String, _ value: (some CustomStringConvertible)?) {
        guard let value else { return }
        attributes += " \(attribute)=\"\(Self.escaped(value.description))\""
    }

    mutating func add(_ child: XMLElement) { children.append(child) }
    mutating func add(_ children: [XMLElement]) { self.children += children }

    /// Returns the document with this root.
    var document: String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        write(to: &text, indentation: "")
        return text
    }

    private func write(to text: inout String, indentation: String) {
        text += "\(indentation)<\(name)\(attributes)"
        if let content {
            text += ">\(content)</\(name)>\n"
        } else if children.isEmpty {
            text += "/>\n"
        } else {
            text += ">\n"
            for child in children { child.write(to: &text, indentation: indentation + "  ") }
            text += "\(indentation)</\(name)>\n"
        }
    }

    /// Returns text with markup escaped. Characters that XML 1.0 can't represent are replaced by U+FFFD, and line ends and
    /// tabs by spaces, as parsers of attributes do.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26: result += "&amp;"
            case 0x3c: result += "&lt;"
            case 0x3e: result += "&gt;"
            case 0x22: result += "&quot;"
            case 0x9, 0xa, 0xd: result += " "
            case 0...0x1f, 0x7f...0x9f, 0xfffe, 0xffff: result += "\u{fffd}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
