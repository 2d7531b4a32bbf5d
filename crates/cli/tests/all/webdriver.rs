//! A plan of the WebDriver plugin drives a Chromium through Java.

use std::path::{Path, PathBuf};

use drumfire_testkit::program::{LIMIT, Workshop, jmeter_home};
use drumfire_testkit::server::{ResponseStep, Server, respond};

/// A program on the path; prints a line if it is missing.
fn on_path(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = found.into_iter().find(|file| file.is_file());
    if found.is_none() {
        println!("skipped: there is no {name} on the path");
    }
    found.map(|file| file.display().to_string())
}

/// Maven's local repository, from which the plugin's jars are taken.
fn local_repository() -> Option<PathBuf> {
    let folder = std::env::home_dir()?.join(".m2/repository");
    let jar = "kg/apc/jmeter-plugins-webdriver/4.8.1/jmeter-plugins-webdriver-4.8.1.jar";
    if !folder.join(jar).is_file() {
        println!(
            "skipped: ~/.m2 has no WebDriver plugin; run `drumfire jvm install jpgc-webdriver`"
        );
        return None;
    }
    Some(folder)
}

fn plan(site: &str, driver: &str, browser: &str) -> String {
    let class = |name: &str| format!("com.googlecode.jmeter.plugins.webdriver.{name}");
    let (config, sampler) = (
        class("config.ChromeDriverConfig"),
        class("sampler.WebDriverSampler"),
    );
    drumfire_testkit::plans::plan(&format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp></ThreadGroup>
<hashTree><{config} guiclass="{config}Gui" testclass="{config}" testname="Chromium"><stringProp name="WebDriverConfig.proxy_type">DIRECT</stringProp>
<stringProp name="WebDriverConfig.driver_path">{driver}</stringProp><stringProp name="ChromeDriverConfig.binary_path">{browser}</stringProp>
<stringProp name="ChromeDriverConfig.additional_args">--no-sandbox --remote-allow-origins=*</stringProp><boolProp name="WebDriverConfig.headless">true</boolProp></{config}><hashTree/>
<{sampler} guiclass="{sampler}Gui" testclass="{sampler}" testname="Page"><stringProp name="WebDriverSampler.language">groovy</stringProp><stringProp name="WebDriverSampler.script">WDS.sampleResult.sampleStart()
WDS.browser.get('{site}')
WDS.sampleResult.sampleEnd()
WDS.vars.put('title', WDS.browser.title)</stringProp></{sampler}><hashTree/>
<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="${{title}}"/><hashTree/></hashTree>"#
    ))
}

/// The plugin's line, of the class path without it.
const INSTALL: &str = "drumfire jvm install jpgc-webdriver";

fn shop(home: &Path) -> Workshop {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let shop = shop.variable("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    shop.variable("JMETER_HOME", &home.to_string_lossy())
}

#[test]
fn a_plan_of_the_webdriver_plugin_opens_pages_in_chromium() {
    let Some(home) = jmeter_home() else { return };
    let (Some(driver), Some(browser)) = (on_path("chromedriver"), on_path("chromium")) else {
        return;
    };
    let Some(repository) = local_repository() else {
        return;
    };
    let server = Server::start(|_| {
        let page = "<!DOCTYPE html><title>A page</title><script>document.title += ' with scripts'</script>";
        vec![ResponseStep::Send(respond(
            "200 OK",
            "Content-Type: text/html\r\n",
            page,
        ))]
    });
    let shop = shop(&home);
    let site = format!("http://{}/", server.address());
    shop.write("plan.jmx", plan(&site, &driver, &browser));
    let checked = shop.run(&["check", "plan.jmx"], LIMIT);
    assert_eq!(checked.code, Some(3), "{checked:?}");
    assert!(checked.err.contains(INSTALL), "{checked:?}");
    let from = format!("-Jdrumfire.maven.repositories={}", repository.display());
    let words = [
        "jvm",
        "install",
        "jpgc-webdriver",
        "-Jdrumfire.maven.offline=true",
        &from,
    ];
    let installed = shop.run(&words, LIMIT);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let checked = shop.run(&["check", "plan.jmx"], LIMIT);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let ran = shop.run(&["-n", "-t", "plan.jmx", "-l", "rows.csv"], LIMIT);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows = shop.read("rows.csv");
    let pages = rows.matches(",Page,200,OK,Users 1-1,text,true,");
    assert_eq!(pages.count(), 2, "{rows}");
    assert_eq!(
        rows.matches(",A page with scripts,200,").count(),
        2,
        "{rows}"
    );
}
