/** What a person did with the palette's field while the palette was loading. */
export interface PendingInput {
  typed: string;
  /** Enter was pressed. */
  entered: boolean;
}

export const NO_INPUT: PendingInput = { typed: '', entered: false };
