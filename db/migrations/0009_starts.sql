CREATE TABLE `starts` (
	`first` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`ids` text NOT NULL,
	`origin` text NOT NULL,
	`cause` text NOT NULL
);
