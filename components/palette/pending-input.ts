/** What a person did with the palette's field while the palette was loading. */
export interface PendingInput {
  typed: string;
  /** Enter was pressed. */
  entered: boolean;
  /** The sandbox that is chosen opens its terminal over the page. */
  forTerminal: boolean;
}

export const NO_INPUT: PendingInput = { typed: '', entered: false, forTerminal: false };
