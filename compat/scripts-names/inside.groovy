SampleResult.sampleLabel = [FileName, Parameters, Label, binding.hasVariable("args")].join("|")
