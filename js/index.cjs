// The package's entry for require(): the same classes as js/index.mjs. It needs a Node.js that can require() ES modules
// (20.19, 22.12 or later), or Bun.

module.exports = require('./index.mjs');
