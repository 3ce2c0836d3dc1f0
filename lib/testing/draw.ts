/**
 * What a run of the tests draws by the day, the same all day, so that a failure can be had again. Tests of the second
 * level run on one day of three (scripts/test-days.ts); what they try of a list moves on with each of their runs.
 * `WB_TEST_DRAW=20785` is the run of that day, `WB_TEST_DRAW=all` runs everything.
 */

const DAY_MS = 86_400_000;
const ALL = 'all';
const given = process.env.WB_TEST_DRAW;

/** How many days it takes until every test file has run. */
export const FILE_DAYS = 3;

/** Whether nothing is drawn: every file runs, and every part of each list. */
export const DRAWS_ALL = given === ALL;

/** Days since 1970, in UTC: the seed of what is drawn. */
export const DAY = given === undefined || DRAWS_ALL ? Math.floor(Date.now() / DAY_MS) : Number(given);
if (!Number.isSafeInteger(DAY)) throw new Error(`WB_TEST_DRAW is a number of days or ${ALL}, not ${given}.`);

/** Which time around it is: a file of one day in three runs once in each, with the next part of its lists. */
export const ROUND = Math.floor(DAY / FILE_DAYS);

/** What a message says, so that the same can be drawn again. */
export const DRAWN_BY = `WB_TEST_DRAW=${DAY}`;

/**
 * The part of a list that a round tries: every `parts`th entry. All entries have been tried after `parts` rounds.
 *
 * @param round Default: the present one.
 */
export function partOf<T>(list: readonly T[], parts: number, round: number = ROUND): T[] {
  return DRAWS_ALL ? [...list] : list.filter((_, at) => at % parts === round % parts);
}
