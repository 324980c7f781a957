module github.com/ridgeline/ridgeline

go 1.26
