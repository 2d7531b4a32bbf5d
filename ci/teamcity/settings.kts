// A build configuration in the Kotlin DSL. `--annotations` prints service messages in a TeamCity build: each threshold is a test.
import jetbrains.buildServer.configs.kotlin.BuildType
import jetbrains.buildServer.configs.kotlin.buildSteps.script

object LoadTest : BuildType({
    name = "Load test"

    artifactRules = """
        report.html
        results.jtl
        run.drumfire
    """.trimIndent()

    params {
        param("drumfire.version", "0.1.0")
        param("drumfire.prefix", "%teamcity.agent.tools.dir%/drumfire-%drumfire.version%")
        param("plan", "plans/shop.jmx")
        param("failOn", "errors > 1%%; p95 > 300ms")
    }

    steps {
        script {
            name = "Install Drumfire"
            scriptContent = """
                if [ ! -x "%drumfire.prefix%/bin/drumfire" ]; then
                    curl --fail --location --silent --show-error --retry 3 --output install-drumfire.sh \
                        "https://github.com/drumfire/drumfire/releases/download/v%drumfire.version%/install.sh"
                    DRUMFIRE_PREFIX="%drumfire.prefix%" sh install-drumfire.sh
                fi
            """.trimIndent()
        }
        script {
            name = "Run the plan"
            scriptContent = """
                "%drumfire.prefix%/bin/drumfire" run "%plan%" --progress lines --annotations -l results.jtl -f \
                    --report report.html --run-file run.drumfire -Jdrumfire.fail_on="%failOn%"
            """.trimIndent()
        }
    }
})
