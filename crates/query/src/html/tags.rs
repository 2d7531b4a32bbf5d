//! The tag names of the HTML tree construction (`https://html.spec.whatwg.org/#parsing`), and the sets that they belong to.

/// Belongs to no set.
pub(super) const PLAIN: u16 = 0;
/// "Special": an end tag of another name does not close it.
pub(super) const SPECIAL: u16 = 1;
/// The tag ends the scope: elements around it are not in scope.
pub(super) const SCOPE: u16 = 1 << 1;
/// Its end tag is optional.
pub(super) const IMPLIED: u16 = 1 << 2;
/// A formatting element.
pub(super) const FORMATTING: u16 = 1 << 3;
/// Its start tag only closes a paragraph.
pub(super) const BLOCK: u16 = 1 << 4;
/// Its end tag also closes the elements open inside it.
pub(super) const CLOSED_IN_SCOPE: u16 = 1 << 5;
/// `h1` to `h6`
pub(super) const HEADING: u16 = 1 << 6;
/// Empty, and belongs in the head.
pub(super) const METADATA: u16 = 1 << 7;
/// Empty, inline.
pub(super) const VOID: u16 = 1 << 8;
/// Empty, independent of the open elements.
pub(super) const VOID_AS_IT_IS: u16 = 1 << 9;
/// Ignored outside of a table.
pub(super) const TABLE_PART: u16 = 1 << 10;
/// Rare, with its own rules.
pub(super) const ODD: u16 = 1 << 11;

macro_rules! names {
    ($($tag:ident $name:literal $sets:expr,)*) => {
        /// A tag name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tag {
            $($tag,)*
            /// Any other name.
            Other,
        }

        const NAMES: &[(&str, Tag, u16)] = &[$(($name, Tag::$tag, $sets),)*];
    };
}

names! {
    A "a" FORMATTING,
    Address "address" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Applet "applet" SPECIAL | SCOPE | ODD,
    Area "area" SPECIAL | VOID,
    Article "article" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Aside "aside" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    B "b" FORMATTING,
    Base "base" SPECIAL | METADATA,
    Basefont "basefont" SPECIAL | METADATA,
    Bgsound "bgsound" SPECIAL | METADATA,
    Big "big" FORMATTING,
    Blockquote "blockquote" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Body "body" SPECIAL | ODD,
    Br "br" SPECIAL | VOID,
    Button "button" SPECIAL | CLOSED_IN_SCOPE,
    Caption "caption" SPECIAL | SCOPE | TABLE_PART,
    Center "center" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Code "code" FORMATTING,
    Col "col" SPECIAL | TABLE_PART,
    Colgroup "colgroup" SPECIAL | TABLE_PART,
    Dd "dd" SPECIAL | IMPLIED,
    Details "details" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Dialog "dialog" BLOCK | CLOSED_IN_SCOPE,
    Dir "dir" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Div "div" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Dl "dl" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Dt "dt" SPECIAL | IMPLIED,
    Em "em" FORMATTING,
    Embed "embed" SPECIAL | VOID,
    Fieldset "fieldset" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Figcaption "figcaption" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Figure "figure" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Font "font" FORMATTING,
    Footer "footer" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Form "form" SPECIAL,
    Frame "frame" SPECIAL,
    Frameset "frameset" SPECIAL | ODD,
    H1 "h1" SPECIAL | HEADING,
    H2 "h2" SPECIAL | HEADING,
    H3 "h3" SPECIAL | HEADING,
    H4 "h4" SPECIAL | HEADING,
    H5 "h5" SPECIAL | HEADING,
    H6 "h6" SPECIAL | HEADING,
    Head "head" SPECIAL,
    Header "header" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Hgroup "hgroup" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Hr "hr" SPECIAL,
    Html "html" SPECIAL | SCOPE | ODD,
    I "i" FORMATTING,
    Iframe "iframe" SPECIAL,
    Image "image" ODD,
    Img "img" SPECIAL | VOID,
    Input "input" SPECIAL,
    Isindex "isindex" SPECIAL,
    Keygen "keygen" VOID,
    Li "li" SPECIAL | IMPLIED,
    Link "link" SPECIAL | METADATA,
    Listing "listing" SPECIAL | CLOSED_IN_SCOPE,
    Main "main" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Marquee "marquee" SPECIAL | SCOPE | ODD,
    Math "math" ODD,
    Menu "menu" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Meta "meta" SPECIAL | METADATA,
    Nav "nav" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Nobr "nobr" ODD,
    Noembed "noembed" SPECIAL,
    Noframes "noframes" SPECIAL,
    Noscript "noscript" SPECIAL,
    Object "object" SPECIAL | SCOPE | ODD,
    Ol "ol" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Optgroup "optgroup" IMPLIED,
    Option "option" IMPLIED,
    P "p" SPECIAL | IMPLIED | BLOCK,
    Param "param" SPECIAL | VOID_AS_IT_IS,
    Plaintext "plaintext" SPECIAL | ODD,
    Pre "pre" SPECIAL | CLOSED_IN_SCOPE,
    Rb "rb" IMPLIED | ODD,
    Rp "rp" IMPLIED | ODD,
    Rt "rt" IMPLIED | ODD,
    Rtc "rtc" IMPLIED | ODD,
    S "s" FORMATTING,
    Script "script" SPECIAL,
    Search "search" BLOCK | CLOSED_IN_SCOPE,
    Section "section" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Select "select" SPECIAL | SCOPE | CLOSED_IN_SCOPE,
    Small "small" FORMATTING,
    Source "source" SPECIAL | VOID_AS_IT_IS,
    Strike "strike" FORMATTING,
    Strong "strong" FORMATTING,
    Style "style" SPECIAL,
    Summary "summary" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Svg "svg" ODD,
    Table "table" SPECIAL | SCOPE,
    Tbody "tbody" SPECIAL | TABLE_PART,
    Td "td" SPECIAL | SCOPE | TABLE_PART,
    Template "template" SPECIAL | SCOPE | ODD,
    Textarea "textarea" SPECIAL,
    Tfoot "tfoot" SPECIAL | TABLE_PART,
    Th "th" SPECIAL | SCOPE | TABLE_PART,
    Thead "thead" SPECIAL | TABLE_PART,
    Title "title" SPECIAL,
    Tr "tr" SPECIAL | TABLE_PART,
    Track "track" SPECIAL | VOID_AS_IT_IS,
    Tt "tt" FORMATTING,
    U "u" FORMATTING,
    Ul "ul" SPECIAL | BLOCK | CLOSED_IN_SCOPE,
    Wbr "wbr" SPECIAL | VOID,
    Xmp "xmp" SPECIAL,
}

/// Size of the hash table of names: a power of two, and several times the number of names.
const PLACES: usize = 512;

/// Hash table of indexes into `NAMES`, plus one, with linear probing.
static TABLE: [(u64, u8); PLACES] = {
    let mut table = [(0, 0); PLACES];
    let mut at = 0;
    while at < NAMES.len() {
        let key = key(NAMES[at].0.as_bytes());
        let mut slot = place(key);
        while table[slot].1 != 0 {
            slot = (slot + 1) % PLACES;
        }
        table[slot] = (key, at as u8 + 1);
        at += 1;
    }
    table
};

/// Number of a name's bytes in its key.
const IN_KEY: usize = 7;

/// The length and the first bytes of a name, which identify a short name completely.
const fn key(name: &[u8]) -> u64 {
    let (mut key, mut at) = (name.len() as u64, 0);
    while at < name.len() && at < IN_KEY {
        key = key << 8 | name[at] as u64;
        at += 1;
    }
    key
}

const fn place(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55) as usize
}

/// Looks up a name in lower case; returns its tag and its sets.
pub(super) fn find(name: &[u8]) -> (Tag, u16) {
    let key = key(name);
    let mut slot = place(key);
    while TABLE[slot].1 != 0 {
        let (known_key, number) = TABLE[slot];
        let (known_name, tag, sets) = NAMES[usize::from(number) - 1];
        if known_key == key && (name.len() <= IN_KEY || known_name.as_bytes() == name) {
            return (tag, sets);
        }
        slot = (slot + 1) % PLACES;
    }
    (Tag::Other, PLAIN)
}

/// The class of a byte in the names of tags and attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InName {
    Part,
    Capital,
    Equals,
    End,
}

static IN_NAME: [InName; 256] = {
    let mut table = [InName::Part; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\n' | b'\t' | b'\x0C' | b'/' | b'>' => InName::End,
            b'=' => InName::Equals,
            b'A'..=b'Z' => InName::Capital,
            _ => InName::Part,
        };
        byte += 1;
    }
    table
};

/// The length of the name at the start of `bytes`, and whether it contains capitals. An equals sign ends an attribute's name,
/// except at its start. `None` if the name does not end.
pub(super) fn name_length(bytes: &[u8], is_attribute: bool) -> Option<(usize, bool)> {
    let mut has_capitals = false;
    for (length, byte) in bytes.iter().enumerate() {
        match IN_NAME[usize::from(*byte)] {
            InName::Part => {}
            InName::Capital => has_capitals = true,
            InName::Equals if !is_attribute || length == 0 => {}
            InName::Equals => return Some((length, has_capitals)),
            InName::End => return Some((length, has_capitals)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for (name, tag, sets) in NAMES {
            assert_eq!(find(name.as_bytes()), (*tag, *sets), "{name}");
        }
        for name in [
            "",
            "divx",
            "di",
            "x-item",
            "blockquotes",
            "blockquotx",
            "a b",
        ] {
            assert_eq!(find(name.as_bytes()), (Tag::Other, PLAIN), "{name}");
        }
    }

    #[test]
    fn names_end_where_the_standard_says() {
        let tag = |text: &str| name_length(text.as_bytes(), false);
        assert_eq!(tag("a=b>"), Some((3, false)));
        assert_eq!(tag("aB/>"), Some((2, true)));
        assert_eq!(tag("ab"), None);
        let attribute = |text: &str| name_length(text.as_bytes(), true);
        assert_eq!(attribute("aB=c"), Some((2, true)));
        assert_eq!(attribute("=a=b"), Some((2, false)));
        assert_eq!(attribute("a\tb"), Some((1, false)));
        assert_eq!(attribute("="), None);
    }
}
