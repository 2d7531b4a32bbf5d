//! Error types whose whole content is a message for the user.

/// Declares an error that is a message, so that a signature says what went wrong instead of `String`. The message converts from
/// and into texts. By the rule of all crates, the name ends in `Error` for wrong input and in `Failure` for the surroundings.
///
/// ```
/// drumfire_platform::message_error! {
///     /// Why a rate cannot be read.
///     pub struct RateError;
/// }
/// fn rate(text: &str) -> Result<f64, RateError> {
///     text.parse().map_err(|_| format!("`{text}` is not a rate").into())
/// }
/// assert_eq!(rate("x").unwrap_err().to_string(), "`x` is not a rate");
/// ```
#[macro_export]
macro_rules! message_error {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $visibility struct $name(String);

        impl ::std::convert::From<String> for $name {
            fn from(message: String) -> $name {
                $name(message)
            }
        }

        impl ::std::convert::From<&str> for $name {
            fn from(message: &str) -> $name {
                $name(message.to_owned())
            }
        }

        impl ::std::convert::From<$name> for String {
            fn from(error: $name) -> String {
                error.0
            }
        }

        impl ::std::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl ::std::error::Error for $name {}
    };
}
