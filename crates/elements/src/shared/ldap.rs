//! The fields of LDAP requests and of their defaults.

use crate::form::{
    Property, Saved, Section, choice, flag, inner, is, secret, section, text, whole,
};
use crate::items;

pub const SERVER_FIELDS: Section = section("Server", &[SERVER, PORT, ROOT_DN]);

pub const EXTENDED_LOGIN: Section = section(
    "Thread Bind",
    &[
        USER_DN,
        USER_PASSWORD,
        CONNECTION_TIMEOUT,
        SECURE,
        TRUST_ALL,
    ],
);

pub const EXTENDED_TEST: Section = section("Test Configuration", &[EXTENDED_TEST_KIND]);

pub const ENTRY: Section = section(
    "Entry",
    &[
        ENTRY_DN,
        ENTRY_ATTRIBUTES,
        CHANGES,
        OLD_NAME,
        NEW_NAME,
        DELETED_ENTRY,
    ],
);

pub const SEARCH: Section = section(
    "Search",
    &[
        SEARCH_BASE,
        SEARCH_FILTER,
        SEARCH_SCOPE,
        SIZE_LIMIT,
        TIME_LIMIT,
        RETURNED_ATTRIBUTES,
        RETURN_OBJECT,
        DEREF_ALIASES,
        PARSE,
    ],
);

pub const COMPARE: Section = section("Compare", &[COMPARED_ENTRY, COMPARE_FILTER]);

pub const SIMPLE_TESTS: Section = section(
    "Test Configuration",
    &[
        SIMPLE_TEST,
        USER_DEFINED,
        ENTRY_DN,
        ENTRY_ATTRIBUTES,
        DELETED_ENTRY,
        SEARCH_BASE,
        SEARCH_FILTER,
    ],
);

pub const SIMPLE_TEST: Property = choice(
    "test",
    &[
        is("add", "Add Test"),
        is("delete", "Delete Test"),
        is("search", "Search Test"),
        is("modify", "Modify Test"),
    ],
)
.label("Test Configuration")
.default("add")
.help("Says what the request does.");

pub const USER_DEFINED: Property = flag("user_defined")
    .label("User Defined Test")
    .default("false")
    .help("Uses the entries below instead of made-up ones.");

pub const SERVER: Property = text("servername")
    .label("Servername")
    .help("Names the server.");

pub const PORT: Property = whole("port").label("Port").help("Sets the port.");

pub const ROOT_DN: Property = text("rootdn")
    .label("DN")
    .help("Holds the name below which all searches begin.");

pub const USER_DN: Property = text("user_dn")
    .label("Username")
    .help("Names the user that binds.");

pub const USER_PASSWORD: Property = secret("user_pw")
    .label("Password")
    .help("Holds the password of that user.");

pub const CONNECTION_TIMEOUT: Property = whole("connection_timeout")
    .label("Connection timeout (in milliseconds)")
    .help("Fails if connecting takes more milliseconds.");

pub const SECURE: Property = flag("secure")
    .saved(Saved::StringProp)
    .label("Use Secure LDAP Protocol ?")
    .default("false")
    .help("Connects with TLS.");

pub const TRUST_ALL: Property = flag("trustall")
    .saved(Saved::StringProp)
    .label("Trust All Certificates ?")
    .default("false")
    .help("Accepts any certificate of the server.");

pub const EXTENDED_TEST_KIND: Property = choice(
    "test",
    &[
        is("bind", "Thread Bind"),
        is("unbind", "Thread Unbind"),
        is("sbind", "Single bind/unbind"),
        is("rename", "Rename entry"),
        is("add", "Add test"),
        is("delete", "Deletion test"),
        is("search", "Search test"),
        is("compare", "Compare"),
        is("modify", "Modification test"),
    ],
)
.label("Test Configuration")
.help("Says what the request does.");

pub const ENTRY_DN: Property = text("base_entry_dn")
    .label("Entry DN")
    .help("Names the entry that is added or changed.");

pub const ENTRY_ATTRIBUTES: Property = inner("arguments", &items::ARGUMENTS)
    .label("Attributes")
    .help("Lists the attributes of the new entry.");

pub const CHANGES: Property = inner("ldaparguments", &items::LDAP_ARGUMENTS)
    .label("Attributes")
    .help("Lists the changes of attributes: attribute, value and operation.");

pub const OLD_NAME: Property = text("modddn")
    .label("Old entry name")
    .help("Names the entry that is renamed.");

pub const NEW_NAME: Property = text("newdn")
    .label("New distinguished name")
    .help("Holds its new name.");

pub const DELETED_ENTRY: Property = text("delete")
    .label("Delete")
    .help("Names the entry that is deleted.");

pub const SEARCH_BASE: Property = text("search")
    .label("Search base")
    .help("Holds the name below which the search begins.");

pub const SEARCH_FILTER: Property = text("searchfilter")
    .label("Search Filter")
    .help("Holds the filter of the search.");

pub const SEARCH_SCOPE: Property = choice(
    "scope",
    &[
        is("0", "Perform baseobject search"),
        is("1", "Perform onelevel search"),
        is("2", "Perform subtree search"),
    ],
)
.label("Scope")
.default("2")
.help("Says how deep the search goes.");

pub const SIZE_LIMIT: Property = whole("countlimit")
    .label("Size limit")
    .help("Ends the search after this many entries.");

pub const TIME_LIMIT: Property = whole("timelimit")
    .label("Time limit")
    .help("Ends the search after this many milliseconds.");

pub const RETURNED_ATTRIBUTES: Property = text("attributes")
    .label("Attributes")
    .help("Lists the attributes that are returned, with semicolons between them.");

pub const RETURN_OBJECT: Property = flag("return_object")
    .saved(Saved::StringProp)
    .label("Return object")
    .default("false")
    .help("Returns the objects of the entries.");

pub const DEREF_ALIASES: Property = flag("deref_aliases")
    .saved(Saved::StringProp)
    .label("Dereference aliases")
    .default("false")
    .help("Follows aliases.");

pub const PARSE: Property = flag("parseflag")
    .saved(Saved::StringProp)
    .label("Parse the search results ?")
    .default("false")
    .help("Writes the results into the response.");

pub const COMPARED_ENTRY: Property = text("comparedn")
    .label("Entry DN")
    .help("Names the entry that is compared.");

pub const COMPARE_FILTER: Property = text("comparefilt")
    .label("Compare filter")
    .help("Holds the filter that it is compared with.");
