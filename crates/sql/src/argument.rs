//! Argument values for a prepared statement (`PreparedStatement#set…`).

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The number of its type in `java.sql.Types`.
    pub sql_type: i32,
    /// The value; `None` is NULL.
    pub value: Option<ArgumentValue>,
}

/// A value, by the setter that it is passed to.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// `setInt`.
    Int(i32),
    /// `BigDecimal#toString`.
    Decimal(String),
    /// `setDouble`.
    Double(f64),
    /// `setString`.
    Text(String),
    /// `setBoolean`.
    Bool(bool),
    /// `setLong`.
    Long(i64),
    /// `yyyy-mm-dd`.
    Date(String),
    /// `setFloat`.
    Real(f32),
    /// `setByte`.
    Byte(i8),
    /// `setShort`.
    Short(i16),
    /// `yyyy-mm-dd hh:mm:ss[.fraction]`.
    Timestamp(String),
    /// `hh:mm:ss`.
    Time(String),
    /// `setBytes`.
    Bytes(Vec<u8>),
    /// A text that `setObject` turns into the parameter's type.
    Object(String),
}
