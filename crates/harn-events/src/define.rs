//! One declaration of an event, everything that follows from it.
//!
//! `agent_events!` turns a list of variants into the enum, its accessors, its
//! writer, its reader and a table of its shape. Kept by hand, those five would
//! be five lists of sixty-one entries that drift apart.
//!
//! Each field starts with the rule for its key:
//!
//! | rule       | on write                  | when absent on read |
//! |------------|---------------------------|---------------------|
//! | `required` | always                    | an error            |
//! | `nullable` | always                    | the default         |
//! | `omitted`  | left out when the default | the default         |

/// Declares [`AgentEvent`](crate::AgentEvent) and what is derived from it.
macro_rules! agent_events {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $tag:literal {
            $( $(#[doc = $field_doc:literal])+ $rule:ident $field:ident : $ty:ty, )*
        }
    )+) => {
        /// Something that happened in an agent session, or is about to start.
        ///
        /// An event is self-contained: as JSON it is an object whose `type` is
        /// the [tag](Self::tag) of its variant, with `session_id` and the fields
        /// of the variant beside it. Events are facts; a correction is a new event.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AgentEvent {
            $(
                $(#[doc = $doc])+
                $variant {
                    /// Routing key: the agent session this event belongs to.
                    session_id: String,
                    $( $(#[doc = $field_doc])+ $field: $ty, )*
                },
            )+
        }

        impl AgentEvent {
            /// The session this event belongs to. Readers are matched on it byte for byte.
            pub fn session_id(&self) -> &str {
                match self {
                    $( Self::$variant { session_id, .. } => session_id, )+
                }
            }

            /// The `type` of this event on the wire, without serialising it.
            pub fn tag(&self) -> &'static str {
                match self {
                    $( Self::$variant { .. } => $tag, )+
                }
            }

            /// Writes `type`, `session_id` and the fields into an object that is
            /// already open, so that an envelope can share it.
            pub(crate) fn write_fields<W: crate::wire::FieldWriter>(
                &self,
                object: &mut W,
            ) -> Result<(), W::Error> {
                object.field("type", self.tag())?;
                object.field("session_id", self.session_id())?;
                match self {
                    $( Self::$variant { session_id: _, $($field),* } => {
                        $( agent_events!(@write $rule object $field); )*
                    } )+
                }
                Ok(())
            }
        }

        /// Reads the fields of the variant called `tag` from an object whose `type`
        /// has been consumed, and leaves the event in the reader's slot. `None` when no
        /// variant has this tag.
        pub(crate) fn read_variant<'de, A: serde::de::MapAccess<'de>>(
            tag: &str,
            fields: &mut crate::decode::Fields<'_, A>,
        ) -> Option<Result<(), A::Error>> {
            match tag {
                $( $tag => {
                    fn read<'de, A: serde::de::MapAccess<'de>>(
                        fields: &mut crate::decode::Fields<'_, A>,
                    ) -> Result<(), A::Error> {
                        let mut session_id: Option<String> = None;
                        $( let mut $field: Option<$ty> = None; )*
                        while let Some(key) = fields.next_key()? {
                            match &*key {
                                "session_id" => session_id = Some(fields.value()?),
                                $( stringify!($field) => $field = Some(fields.value()?), )*
                                _ => fields.skip_unknown()?,
                            }
                        }
                        *fields.slot = Some(AgentEvent::$variant {
                            session_id: agent_events!(@read required session_id),
                            $( $field: agent_events!(@read $rule $field), )*
                        });
                        Ok(())
                    }
                    Some(read(fields))
                } )+
                _ => None,
            }
        }

        /// The declarations as data, in order.
        pub(crate) const SHAPES: &[crate::shape::Variant] = &[
            $( crate::shape::Variant {
                tag: $tag,
                rust_name: stringify!($variant),
                fields: &[
                    crate::shape::Field {
                        name: "session_id",
                        ty: "String",
                        rule: crate::shape::Rule::Required,
                    },
                    $( crate::shape::Field {
                        name: stringify!($field),
                        ty: stringify!($ty),
                        rule: agent_events!(@rule $rule),
                    }, )*
                ],
            }, )+
        ];
    };

    (@write omitted $map:ident $field:ident) => {
        if !crate::wire::Field::is_left_out($field) {
            crate::wire::Field::write($field, $map, stringify!($field))?;
        }
    };
    (@write $rule:ident $map:ident $field:ident) => {
        crate::wire::Field::write($field, $map, stringify!($field))?
    };

    (@read required $field:ident) => {
        $field.ok_or_else(|| serde::de::Error::missing_field(stringify!($field)))?
    };
    (@read $rule:ident $field:ident) => { $field.unwrap_or_default() };

    (@rule required) => { crate::shape::Rule::Required };
    (@rule nullable) => { crate::shape::Rule::Nullable };
    (@rule omitted) => { crate::shape::Rule::Omitted };
}

pub(crate) use agent_events;
