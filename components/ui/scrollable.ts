/** Props that let the keyboard focus a scrolling box. Not every browser does this by itself. */
export const SCROLLABLE = { tabIndex: 0 } as const;
