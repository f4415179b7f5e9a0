package import Diagnostics
package import Errors

extension Rule {
    /// The kind of an error whose only cause is a violation of the rule.
    package var errorKind: ErrorKind {
        switch self {
        case .fileUnreadable, .yamlSyntax, .yamlLimit, .duplicateKey, .unknownKey, .missingKey, .wrongType,
            .conflictingKeys, .undefinedName, .invalidName, .substitution, .settingsCycle, .includeCycle,
            .includedJobs, .fanOut, .unusedVariable, .unusedMatrixKey, .dependencyCycle, .patternTakesOutputs,
            .leftoverTrack,
            .destinationCollision:
            .invalidJobFile
        case .noMatch: .notFound
        case .networkNotAllowed: .networkNotAllowed
        case .invalidValue, .filterChain, .codecSetting, .codecLimit, .targetSize, .targetQuality,
            .encoderOption,
            .containerSetting, .invalidRange, .variableRate, .destinationIsSource:
            .invalidSettings
        case .notSupported, .unknownCodec, .unknownEncoder, .unknownContainer, .containerCodec, .cannotDecode:
            .unsupportedFormat
        case .encoderMissing: .encoderNotAvailable
        case .sourceUnreadable: .notReadable
        case .noSuchTrack: .noSuchTrack
        case .copyRange, .sourceOrder: .notCopyable
        case .destinationExists: .destinationExists
        case .destinationUnwritable: .destinationNotWritable
        case .lowSpace: .diskFull
        case .jobTimeout: .stalled
        case .jobFailed, .jobWarning, .workerDied: .failed
        case .expectationFailed, .expectationImpossible: .expectationNotMet
        }
    }
}
