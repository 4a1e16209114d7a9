//! The N-API face. JavaScript classes are made here, arguments are read and answers are made; what an operation does is
//! the business of the rooms below.

mod activity;
mod answer;
mod argument;
mod border;
mod copying;
mod indexes;
mod long_work;
mod mclass;
mod mcursor;
mod opening;
mod pages;
mod queue;
mod reference;
mod request;
mod server;
mod settings;
mod upkeep;
mod watch;

use std::rc::Rc;

use napi::JsValue;
use napi::bindgen_prelude::Object;

use self::border::{define_class, entry};
use self::reference::Reference;
use self::server::Server;
use crate::document::bytes_name;

/// Puts the classes on the addon's exports, once for each thread that loads it.
#[napi_derive::napi(module_exports)]
pub fn register(exports: Object<'_>, env: napi::Env) -> napi::Result<()> {
    let (env, exports) = (env.raw(), exports.raw());
    server::attach(env);
    define_class::<Rc<Server>>(env, exports, server::CONSTRUCTOR, &server::methods());
    define_class::<Reference<false>>(env, exports, reference::MGLOBAL, &reference::mglobal_methods());
    define_class::<Reference<true>>(env, exports, reference::GLOBAL, &reference::global_methods());
    define_class::<mcursor::Cursor>(env, exports, mcursor::CONSTRUCTOR, &mcursor::methods());
    define_class::<mclass::NoClass>(env, exports, mclass::CONSTRUCTOR, &[]);
    border::define_function(env, exports, "checkLater", entry!(upkeep::check));
    border::define_function(env, exports, "restoreLater", entry!(upkeep::restore));
    border::define_function(env, exports, "compactLater", entry!(upkeep::compact));
    border::define_function(env, exports, "keepLater", entry!(upkeep::keep));
    border::define_function(env, exports, "breakOff", entry!(long_work::break_off));
    define_class::<Rc<watch::Watcher>>(env, exports, watch::CONSTRUCTOR, &watch::methods());
    border::define_function(env, exports, "activity", entry!(activity::share));
    border::define_function(env, exports, "bytesName", entry!(|call| answer::utf8(call.env, bytes_name().as_bytes())));
    border::define_function(env, exports, "version", entry!(|call| answer::utf8(call.env, server::VERSION.as_bytes())));
    Ok(())
}
