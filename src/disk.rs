//! What several rooms ask of the disk.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};

/// Makes sure that the names in a folder are found after a power cut.
///
/// # Errors
/// The system's answer.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("new"), "bytes")?;
/// caretdb::disk::sync_folder(folder.path())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sync_folder(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(|e| Error::io("cannot sync", folder, e))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
