/** The shape of the editor's state as a browser sends it back. */
import { z } from 'zod';

export const EDITOR_STATE = z.object({
  text: z.string(),
  version: z.int().min(0),
  newer: z.int().min(1).nullable(),
  check: z.object({ problems: z.array(z.unknown()), components: z.int() }),
});

/** What a new workbook begins with. */
export const FIRST_SOURCE = `#+title: My first workbook

What it is for, in a sentence or two.

* main :workflow:

** hello :component:
#+begin_src js :in name:string :out greeting:string
export default ({ name }) => ({ greeting: \`Hello, \${name}!\` });
#+end_src
`;
