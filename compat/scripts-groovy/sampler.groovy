SampleResult.sampleLabel = "from a file: " + FileName.tokenize("/").last() + " " + args.join("+")
