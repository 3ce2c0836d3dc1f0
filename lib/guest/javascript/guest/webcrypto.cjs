/** The `crypto` of browsers, as far as it is here. */
'use strict';
exports.crypto = {
  randomUUID: () => require('node:crypto').randomUUID(),
  getRandomValues: (view) => require('node:crypto').randomFillSync(view),
  get subtle() {
    throw new Error('crypto.subtle is not here: there is createHash, createHmac and randomBytes of the module crypto');
  },
};
