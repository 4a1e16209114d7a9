//! What `caretdb::engine` promises in its doc comments, checked on every engine with one suite. A difference between the
//! engines is a fault in one of them.

/// Makes a test for each engine from functions that take an empty [`store::Store`].
macro_rules! on_every_engine {
    ($($promise:ident)*) => {
        $(mod $promise {
            #[test]
            fn lmdb() {
                super::$promise(&mut crate::store::Store::new("lmdb"));
            }

            #[test]
            fn sled() {
                super::$promise(&mut crate::store::Store::new("sled"));
            }

            #[test]
            fn postgres() {
                if let Some(mut store) = crate::store::Store::served() {
                    super::$promise(&mut store);
                }
            }
        })*
    };
}

mod batches;
mod model;
mod moments;
mod opening;
mod processes;
mod ranges;
mod server;
mod store;
mod threads;
mod transactions;
mod values;
