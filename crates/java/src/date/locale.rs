//! The names of months and days, and the week rules, of languages and regions.

/// A language and a region, such as `en_US`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Locale {
    language: String,
    region: String,
}

/// The names in one language, as in the JDK's formatting data (CLDR 39).
#[derive(Debug)]
pub(super) struct LocaleNames {
    pub(super) months: [&'static str; 12],
    pub(super) short_months: [&'static str; 12],
    /// Starts with Monday.
    pub(super) days: [&'static str; 7],
    pub(super) short_days: [&'static str; 7],
    pub(super) half_days: [&'static str; 2],
}

impl Locale {
    /// A locale by its name in Java's notation (`fr`, `en_GB`) or the usual one (`en-GB`).
    #[must_use]
    pub fn new(name: &str) -> Locale {
        let mut parts = name.split(['_', '-', '.', '@']);
        Locale {
            language: parts.next().unwrap_or_default().to_lowercase(),
            region: parts.next().unwrap_or_default().to_uppercase(),
        }
    }

    /// A locale by a language and a region, either of which may be empty.
    #[must_use]
    pub fn from_parts(language: &str, region: &str) -> Locale {
        Locale {
            language: language.to_lowercase(),
            region: region.to_uppercase(),
        }
    }

    /// The language, in lower case.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.language
    }

    /// The region, in upper case; may be empty.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.region
    }

    pub(super) fn names(&self) -> &'static LocaleNames {
        match self.language.as_str() {
            "de" => &GERMAN,
            "es" => &SPANISH,
            "fr" => &FRENCH,
            "it" => &ITALIAN,
            "nl" => &DUTCH,
            "pt" => &PORTUGUESE,
            _ => &ENGLISH,
        }
    }

    /// `WeekFields.of`: the first day of the week (1 is Monday), and the minimum number of days of a
    /// year in its first week.
    pub(super) fn week(&self) -> (i64, i64) {
        let region = match self.region.as_str() {
            // Only regions have week rules. Without one, the Calendar class's own apply.
            "" => return (7, 1),
            region => region,
        };
        let first = match region {
            "US" | "CA" | "BR" | "MX" | "JP" | "IN" | "IL" | "ZA" | "CO" | "PE" | "AU" | "HK"
            | "TW" | "KR" | "PT" | "SG" | "TH" | "PH" | "ID" => 7,
            "AE" | "EG" | "IR" | "SA" => 6,
            _ => 1,
        };
        let least = match region {
            "AD" | "AN" | "AT" | "AX" | "BE" | "BG" | "CH" | "CZ" | "DE" | "DK" | "EE" | "ES"
            | "FI" | "FJ" | "FO" | "FR" | "GB" | "GF" | "GG" | "GI" | "GP" | "GR" | "HU" | "IE"
            | "IM" | "IS" | "IT" | "JE" | "LI" | "LT" | "LU" | "MC" | "MQ" | "NL" | "NO" | "PL"
            | "PT" | "RE" | "RU" | "SE" | "SJ" | "SK" | "SM" | "VA" => 4,
            _ => 1,
        };
        (first, least)
    }
}

#[rustfmt::skip]
static ENGLISH: LocaleNames = LocaleNames {
    months: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
    short_months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    days: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    short_days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    half_days: ["AM", "PM"],
};

#[rustfmt::skip]
static FRENCH: LocaleNames = LocaleNames {
    months: ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
    short_months: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
    days: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    short_days: ["lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."],
    half_days: ["AM", "PM"],
};

#[rustfmt::skip]
static GERMAN: LocaleNames = LocaleNames {
    months: ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
    short_months: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."],
    days: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    short_days: ["Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."],
    half_days: ["AM", "PM"],
};

#[rustfmt::skip]
static SPANISH: LocaleNames = LocaleNames {
    months: ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"],
    short_months: ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
    days: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
    short_days: ["lun", "mar", "mié", "jue", "vie", "sáb", "dom"],
    half_days: ["a. m.", "p. m."],
};

#[rustfmt::skip]
static ITALIAN: LocaleNames = LocaleNames {
    months: ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"],
    short_months: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
    days: ["lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"],
    short_days: ["lun", "mar", "mer", "gio", "ven", "sab", "dom"],
    half_days: ["AM", "PM"],
};

#[rustfmt::skip]
static PORTUGUESE: LocaleNames = LocaleNames {
    months: ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"],
    short_months: ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."],
    days: ["segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"],
    short_days: ["seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom."],
    half_days: ["AM", "PM"],
};

#[rustfmt::skip]
static DUTCH: LocaleNames = LocaleNames {
    months: ["januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"],
    short_months: ["jan.", "feb.", "mrt.", "apr.", "mei", "jun.", "jul.", "aug.", "sep.", "okt.", "nov.", "dec."],
    days: ["maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"],
    short_days: ["ma", "di", "wo", "do", "vr", "za", "zo"],
    half_days: ["a.m.", "p.m."],
};
