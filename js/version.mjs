/** The version of this package; that of the addon must be the same. A test holds package.json and Cargo.toml to it. */
export const VERSION = '0.1.0';
