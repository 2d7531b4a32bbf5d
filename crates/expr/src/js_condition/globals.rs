//! The names of Rhino's standard objects, as `getAllIds` lists them.

/// Names of the global object and its prototypes; none of them has a value here.
pub(super) const GLOBALS: &str = "Array Boolean Call CallSite Continuation Date Error EvalError Function Infinity InternalError Iterator JSON \
    JavaAdapter JavaException JavaImporter Math NaN Namespace Number Object Packages QName RangeError ReferenceError RegExp \
    Script StopIteration String SyntaxError TypeError URIError With XML XMLList com decodeURI decodeURIComponent edu encodeURI \
    encodeURIComponent escape eval getClass globalThis isFinite isNaN isXMLName java javax net org parseFloat parseInt \
    undefined unescape uneval";

/// Properties of strings, numbers and booleans, with those of `Object.prototype`.
pub(super) const PROPERTIES: &str = "anchor big blink bold charAt charCodeAt codePointAt concat constructor endsWith equals \
    equalsIgnoreCase fixed fontcolor fontsize includes indexOf italics lastIndexOf length link localeCompare match normalize \
    padEnd padStart repeat replace search slice small split startsWith strike sub substr substring sup toLocaleLowerCase \
    toLocaleUpperCase toLowerCase toSource toString toUpperCase trim trimEnd trimLeft trimRight trimStart valueOf toExponential \
    toFixed toLocaleString toPrecision __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ hasOwnProperty \
    isPrototypeOf propertyIsEnumerable __proto__ __parent__";

/// The reserved words of language version 0, in which `class`, `let` and others are ordinary
/// names.
pub(super) const KEYWORDS: &str = "break case catch const continue debugger default delete do else export finally for \
    function if in instanceof new return switch this throw try typeof var void while with";

/// Whether the global object or its prototype `Object.prototype` has the name.
pub(super) fn is_global(name: &str) -> bool {
    has(GLOBALS, name)
        || has(
            "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toSource toString valueOf",
            name,
        )
        || name.starts_with("__")
}

/// Whether the list of words, separated by spaces, contains the name.
pub(super) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}
