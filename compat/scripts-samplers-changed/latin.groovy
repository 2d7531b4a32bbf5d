SampleResult.sampleLabel = 'ä'
