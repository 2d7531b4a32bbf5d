//! Embedded pictures (`svg`) that contain only SVG elements.

use super::quick::{Builder, Token};
use super::tags::{PLAIN, Tag};

/// Elements whose standard spelling contains capitals.
const ELEMENTS: &str = "altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend feColorMatrix \
    feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood \
    feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight \
    feSpecularLighting feSpotLight feTile feTurbulence glyphRef linearGradient radialGradient textPath";

/// Attributes whose standard spelling contains capitals.
const ATTRIBUTES: &str = "attributeName attributeType baseFrequency baseProfile calcMode clipPathUnits diffuseConstant edgeMode \
    filterUnits glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength keyPoints keySplines keyTimes \
    lengthAdjust limitingConeAngle markerHeight markerUnits markerWidth maskContentUnits maskUnits numOctaves pathLength \
    patternContentUnits patternTransform patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio \
    primitiveUnits refX refY repeatCount repeatDur requiredExtensions requiredFeatures specularConstant specularExponent \
    spreadMethod startOffset stdDeviation stitchTiles surfaceScale systemLanguage tableValues targetX targetY textLength \
    viewBox viewTarget xChannelSelector yChannelSelector zoomAndPan";

/// Attributes with a namespace, which are stored by their local names.
const FOREIGN: &str = "xlink:actuate xlink:arcrole xlink:href xlink:role xlink:show xlink:title xlink:type xml:lang xml:space xmlns:xlink";

/// Elements inside a picture that either do not exist in HTML or behave the same. All others end the picture or contain
/// HTML.
const OWN: &str = "a animate animatecolor animatemotion animatetransform circle clippath defs ellipse feblend fecolormatrix \
    fecomponenttransfer fecomposite fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur feimage femerge \
    femergenode femorphology feoffset feturbulence filter g image line lineargradient marker mask metadata path pattern polygon \
    polyline radialgradient rect set stop style switch symbol text textpath tspan use view";

impl Builder<'_> {
    /// Starts a picture in the text.
    pub(super) fn start_picture(&mut self, token: Token) -> Option<()> {
        self.reconstruct()?;
        self.insert_foreign(token)
    }

    /// Processes a start tag in a picture.
    pub(super) fn start_foreign(&mut self, mut token: Token) -> Option<()> {
        let name = &self.page.text[token.name.range()];
        let is_own = name == "svg" || OWN.split_ascii_whitespace().any(|own| own == name);
        if !is_own {
            return None;
        }
        if let Some(written) = with_capitals(ELEMENTS, name) {
            token.name = self.keep(written);
        }
        self.insert_foreign(token)
    }

    fn insert_foreign(&mut self, mut token: Token) -> Option<()> {
        let attributes = token.attributes.range();
        for at in attributes.clone() {
            let name = self.page.attributes[at].name;
            let written = &self.page.text[name.range()];
            if let Some(capitals) = with_capitals(ATTRIBUTES, written) {
                self.page.attributes[at].name = self.keep(capitals);
            } else if FOREIGN
                .split_ascii_whitespace()
                .any(|known| known == written)
            {
                let prefix = written.find(':').map(|colon| colon + 1).unwrap_or(0);
                let local = &written[prefix..];
                let is_local = |other: usize| {
                    &self.page.text[self.page.attributes[other].name.range()] == local
                };
                // The order of attributes with equal local names is special.
                if attributes.clone().any(is_local) {
                    return None;
                }
                self.page.attributes[at].name.start += prefix as u32;
            }
        }
        (token.tag, token.sets) = (Tag::Other, PLAIN);
        if token.is_closed {
            self.insert_void(token);
        } else {
            self.insert(token);
            self.foreign += 1;
        }
        Some(())
    }

    /// Processes an end tag in a picture; returns whether it was handled.
    pub(super) fn end_foreign(&mut self, token: Token) -> Option<bool> {
        if matches!(token.tag, Tag::P | Tag::Br) {
            return None;
        }
        let text = &self.page.text;
        let name = &text[token.name.range()];
        let pictures = self.open[self.open.len() - self.foreign..].iter().rev();
        let Some(above) = pictures
            .clone()
            .position(|open| text[open.name.range()].eq_ignore_ascii_case(name))
        else {
            return Some(false);
        };
        (0..=above).for_each(|_| self.pop());
        Some(true)
    }
}

/// The standard spelling of the name, if it contains capitals.
fn with_capitals(names: &'static str, name: &str) -> Option<&'static str> {
    let mut names = names.split_ascii_whitespace();
    names.find(|known| known.eq_ignore_ascii_case(name))
}
