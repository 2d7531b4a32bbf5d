// Works from version 0.1.0 on; none is released yet. Until then, run `cargo xtask dist` in a clone, and put the URL (https://, or file:// on
// the agent) of the folder target/dist/packages that it makes into `drumfire.releases`.
//
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
        param("drumfire.releases", "https://github.com/drumfire/drumfire/releases/download/v%drumfire.version%")
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
                        "%drumfire.releases%/install.sh"
                    DRUMFIRE_RELEASES="%drumfire.releases%" DRUMFIRE_PREFIX="%drumfire.prefix%" sh install-drumfire.sh
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
