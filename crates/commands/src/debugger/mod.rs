//! `drumfire debug`: follows one user step by step. [`session`] stores what happened and decides where to stop, [`text`]
//! prints it, [`testers`] try expressions on a stored response, [`curl`] exports a request, [`page`] answers the
//! browser.

pub mod curl;
pub mod page;
pub mod session;
pub mod testers;
pub mod text;
