//! Configuration elements.

pub mod auth_manager;
pub mod cache_manager;
pub mod cookie_manager;
pub mod counter_config;
pub mod csv_data_set;
pub mod csv_file;
pub mod data_source_element;
pub mod der;
pub mod dns_cache_manager;
pub mod header_manager;
pub mod jars;
pub mod jks;
pub mod keystore_config;
pub mod managers;
pub mod name_servers;
pub mod pkcs12;
pub mod random_csv_data_set;
pub mod random_variable_config;
pub mod redis_client;
pub mod redis_data_set;

pub use auth_manager::{AuthManager, decode as auth_manager};
pub use cache_manager::{CacheManager, decode as cache_manager};
pub use cookie_manager::{CookieManager, decode as cookie_manager};
pub use counter_config::decode as counter;
pub use csv_data_set::decode as csv_data_set;
pub use data_source_element::decode as data_source_element;
pub use dns_cache_manager::{DnsCacheManager, decode as dns_cache_manager};
pub use header_manager::{
    ChangedHeaders, HeaderManager, decode as header_managers, merged as merged_headers,
};
pub use keystore_config::{
    Keystore, decode as keystore_config, of_plan as keystore, read as read_keystore,
};
pub use managers::{Manager, manager};
pub use random_csv_data_set::decode as random_csv_data_set;
pub use random_variable_config::decode as random_variable;
pub use redis_data_set::{RedisDataSet, decode as redis_data_set};
