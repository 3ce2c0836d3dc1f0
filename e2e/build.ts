/** Before the browser tests: the build that their servers serve. */
import { ensureBuilt } from '../scripts/build.ts';

export default ensureBuilt;
