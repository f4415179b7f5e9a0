// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Trimmer",
    dependencies: [.package(name: "tandem", path: "../..")],
    targets: [
        .executableTarget(name: "trim", dependencies: [.product(name: "TandemKit", package: "tandem")])
    ]
)
