/// A job template of Open Job Description (`jobtemplate-2023-09`), with the keys that a batch uses.
struct JobTemplate: Encodable {
    let specificationVersion = "jobtemplate-2023-09"
    var name: String
    var steps: [Step]

    struct Step: Encodable {
        var name: String
        var dependencies: [Dependency]?
        var parameterSpace: ParameterSpace?
        var hostRequirements: HostRequirements?
        var script: Script
    }

    struct Dependency: Encodable {
        var dependsOn: String
    }

    struct ParameterSpace: Encodable {
        var taskParameterDefinitions: [Parameter]
    }

    struct Parameter: Encodable {
        var name: String
        let type = "INT"
        var range: String
    }

    struct HostRequirements: Encodable {
        var amounts: [Amount]
    }

    struct Amount: Encodable {
        var name: String
        var min: Int
    }

    struct Script: Encodable {
        private var actions: [String: Action]

        /// Creates the script of a step that runs a command, which is ended after `timeout` seconds.
        init(command: String, args: [String], timeout: Int? = nil) {
            actions = ["onRun": Action(command: command, args: args, timeout: timeout)]
        }
    }

    private struct Action: Encodable {
        var command: String
        var args: [String]
        var timeout: Int?
        let cancelation = Cancelation()
    }

    /// SIGTERM, which cancels the running jobs, and SIGKILL after a period.
    private struct Cancelation: Encodable {
        let mode = "NOTIFY_THEN_TERMINATE"
        let notifyPeriodInSeconds = 60
    }
}
