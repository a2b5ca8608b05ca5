//! Enums that travel as one plain string.
//!
//! Tomorrow's writer may use a value that today's reader has never seen. Each
//! enum therefore states in its declaration what such a value becomes: either a
//! named fallback (`unknown => Other`), or nothing, in which case decoding fails
//! and the whole record is kept as opaque.

/// Declares the enum, its strings in both directions and its serde impls.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$value_meta:meta])* $value:ident = $text:literal, )+
        }
        $(unknown => $fallback:ident)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$value_meta])* $value, )+
        }

        impl $name {
            /// Every value, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// The string this value has on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$value => $text, )+
                }
            }

            /// The value with this wire string; `None` for a string nobody has declared.
            pub fn from_wire(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$value), )+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = $crate::wire::Text::deserialize(deserializer)?;
                if let Some(value) = Self::from_wire(&text) {
                    return Ok(value);
                }
                $( return Ok(Self::$fallback); )?
                #[allow(unreachable_code, reason = "enums with a fallback return above")]
                Err(serde::de::Error::unknown_variant(&text, &[$($text),+]))
            }
        }

        $(
            impl Default for $name {
                /// The value an unknown string decodes to.
                fn default() -> Self {
                    Self::$fallback
                }
            }
        )?
    };
}

pub(crate) use string_enum;
