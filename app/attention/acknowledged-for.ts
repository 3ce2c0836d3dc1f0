/** For how long something is acknowledged. Pure. */

const HOUR = 3600;
const DAY = 86_400;

/** Seconds as a form has them, which are none until it ends, with how they read. */
export const ACKNOWLEDGED_FOR: Readonly<Record<string, string>> = {
  [HOUR]: 'for an hour',
  [DAY]: 'for a day',
  [7 * DAY]: 'for a week',
  '': 'until it ends',
};

export const USUAL_SPAN = String(DAY);
