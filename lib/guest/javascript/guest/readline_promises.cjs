/** `readline/promises`. */
'use strict';
const { Interface: Plain } = require('node:readline');
class Interface extends Plain {
  question(query, _options) {
    return new Promise((resolve) => {
      super.question(query, resolve);
    });
  }
}
module.exports = { Interface, createInterface: (input, output) => new Interface(input, output) };
