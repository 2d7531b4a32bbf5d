//! The names that Rhino's standard objects have, as `getAllIds` lists them.

/// Names of the global object and of what it inherits; a value is got from none of them here.
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

/// The words that are no names in language version 0; `class`, `let` and the like are names there.
pub(super) const KEYWORDS: &str = "break case catch const continue debugger default delete do else export finally for \
    function if in instanceof new return switch this throw try typeof var void while with";

/// Whether the global object, or `Object.prototype` below it, has the name.
pub(super) fn is_global(name: &str) -> bool {
    has(GLOBALS, name)
        || has(
            "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toSource toString valueOf",
            name,
        )
        || name.starts_with("__")
}

/// Whether the list, words with spaces between, has the name.
pub(super) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}
