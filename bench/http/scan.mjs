// GET /scan?id=…: the search for an id without an index, for comparison: a look at every document, one `next` and one `get`
// each.

/** @this {any} @param {any} messageObj @param {(reply: unknown) => void} finished */
export function handler(messageObj, finished) {
  const { id } = messageObj.data.query;
  const documents = this.use('documents');
  const found = [];
  for (let key = documents.next(''); key !== ''; key = documents.next(key)) {
    if (documents.get(key, 'id') === id) found.push(this.glsdb.node('documents').$(key).document);
  }
  finished(found);
}
