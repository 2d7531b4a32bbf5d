//! Reads the files of a JMeter user: test plans (`.jmx`) and property files.
//!
//! Stop 1 of the nine ("read"): [`read`] turns the bytes of a plan into a [`Tree`] of [`Node`]s with their properties
//! and their positions in the file. The tree keeps unknown classes, disabled elements, old names and the order of
//! everything. The meaning of an element is decided later, when the tree is compiled. The crate reproduces how JMeter 5.6.3
//! loads a file (XStream over MXParser with `SaveService` and its converters): how class names are spelled, which old
//! names are upgraded, how text is normalised, and which files fail to load.
//!
//! Every problem is a [`Diagnostic`], and the reader reports all of them at once.
//!
//! # The XML parser
//!
//! `quick-xml` splits the file into tags and text. References (`&#x1;`), line ends and attributes are decoded here,
//! because JMeter writes and reads characters that XML 1.0 forbids and a conforming parser refuses. The tags go into a
//! flat arena first. Reading is therefore iterative, XStream's `reference="../.."` can be followed, and after a syntax
//! error everything before it can still be checked. Element depth is limited to [`MAX_DEPTH`], far above any real plan,
//! so that code that walks the tree may recurse.

#![warn(missing_docs)]

mod build;
mod child_tree;
mod classes;
mod comparison;
mod conflicts;
mod constructed;
mod defaults;
mod diagnostic;
mod difference;
mod edit;
mod interpret;
mod known_properties;
mod merge;
mod merge_settings;
mod name;
mod outline;
mod properties;
mod property_table;
mod props;
mod read;
mod reference;
mod reread;
mod settings;
mod sniff;
mod source;
mod splice;
mod tree;
mod undefined;
mod upgrade;
mod write;
mod xml;
mod xml_text;
mod xml_writer;

pub use child_tree::{ChildTree, TagKind, Tags, child_tree, subtree, subtree_with_blanks};
pub use classes::{canonical_class, full_class_name, is_known_alias};
pub use comparison::{ComparedElement, SettingChange, above, compared};
pub use conflicts::{RESOLVE, conflict};
pub use defaults::{JMETER_DEFAULTS, SYSTEM_DEFAULTS};
pub use diagnostic::{Diagnostic, Severity};
pub use difference::{Difference, differences, differences_with};
pub use drumfire_platform::spelling::did_you_mean;
pub use edit::{Edit, EditError, PossibleSetting, set_enabled, set_name};
pub use known_properties::{
    Effect, KNOWN_PROPERTIES, KnownProperty, PropertySection, known_property,
};
pub use merge::{Conflict, Merged, merge};
pub use name::Name;
pub use outline::{ShownValue, outline, outline_with};
pub use properties::{PropertyEntry, PropertyFile, load, read_properties, read_properties_file};
pub use property_table::PropertyTable;
pub use read::{Read, read, read_file};
pub use reread::{TextEdit, reread, reread_siblings};
pub use settings::{Setting, item_name, own_path, settings};
pub use source::{SourceFile, Span, has_references};
pub use splice::{
    Splice, add_property, add_xml, attribute_span, blanks_before, content_span, escaped, line_end,
    set_attribute, set_value, spliced, spliced_text, tag_name, written,
};
pub use tree::{Element, Node, Object, Prop, Props, Tree, Value};
pub use write::{class_to_tag, write, write_elements, write_property};
pub use xml::MAX_DEPTH;
