/** Remembers the state of a component, and gives out what has changed: see javascript-components.ts. */
(toJson) => {
  let last;
  let isJson = true;
  return (value, kept, keptIsJson) => {
    if (kept !== undefined) {
      last = kept;
      isJson = keptIsJson;
      return;
    }
    const isText = typeof value === 'string';
    if (isText && !isJson && value === last) return true;
    const now = toJson(value);
    if (isJson && now === last) return true;
    last = isText ? value : now;
    isJson = !isText;
    return now;
  };
};
