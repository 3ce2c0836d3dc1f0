/** Claims: work that any host may do, and that one does at a time. */

/** The kinds of such work. */
export type ClaimKind =
  | 'job'
  | 'firing'
  | 'deliveries'
  | 'run'
  | 'seeding'
  | 'forgetting'
  | 'sealing'
  | 'scrubbing'
  | 'usage';
