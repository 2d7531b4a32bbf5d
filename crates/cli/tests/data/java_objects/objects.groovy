import org.apache.jmeter.control.*
import org.apache.jmeter.engine.*
import org.apache.jmeter.engine.event.*
import org.apache.jmeter.samplers.*
import org.apache.jmeter.testelement.*
import org.apache.jmeter.threads.*
import org.apache.jorphan.collections.*

def out = new StringBuilder()
def shown
shown = { value ->
    if (value == null) return 'null'
    if (value instanceof Boolean || value instanceof Number || value instanceof CharSequence) return value.toString()
    if (value instanceof Map) return new TreeMap(value).toString()
    if (value instanceof Enum) return value.name()
    if (value instanceof TestElement) return 'element ' + value.name
    if (value instanceof SampleResult) return 'result ' + value.sampleLabel + ' ' + value.responseDataAsString
    return 'object'
}
def say = { String name, Closure body ->
    String text
    try {
        text = shown(body())
    } catch (Throwable thrown) {
        text = 'throws ' + thrown.class.name
    }
    out << name << ' = ' << text << '\n'
}
def now = System.currentTimeMillis()
def isNear = { long time -> Math.abs(now - time) < 60000 }

// The other user of the group ends first.
while (JMeterContextService.numberOfThreads > 1) { Thread.sleep(5) }

// JMeterContext
say('ctx.getVariables') { ctx.variables.is(vars) ? 'vars' : ctx.variables.get('who') }
say('ctx.setVariables') { def old = ctx.variables; def fresh = new JMeterVariables(); ctx.setVariables(fresh); def same = ctx.variables.is(fresh); ctx.setVariables(old); same }
say('ctx.getProperties') { ctx.properties.getProperty('given') }
say('ctx.getPreviousResult') { ctx.previousResult }
say('ctx.setPreviousResult') { def old = ctx.previousResult; def mine = new SampleResult(); mine.sampleLabel = 'mine'; ctx.setPreviousResult(mine); def told = shown(ctx.previousResult); ctx.setPreviousResult(old); told }
say('ctx.getCurrentSampler') { ctx.currentSampler }
say('ctx.getPreviousSampler') { ctx.previousSampler }
say('ctx.setCurrentSampler') { def own = ctx.currentSampler; ctx.setCurrentSampler(own); "${ctx.currentSampler.is(own)} ${shown(ctx.previousSampler)}" }
say('ctx.getThreadNum') { ctx.threadNum }
say('ctx.setThreadNum') { def old = ctx.threadNum; ctx.setThreadNum(41); def told = ctx.threadNum; ctx.setThreadNum(old); told }
say('ctx.getThread') { ctx.thread.threadName }
say('ctx.setThread') { def old = ctx.thread; ctx.setThread(null); def told = ctx.thread; ctx.setThread(old); told }
say('ctx.getThreadGroup') { ctx.threadGroup }
say('ctx.setThreadGroup') { def old = ctx.threadGroup; ctx.setThreadGroup(null); def told = ctx.threadGroup; ctx.setThreadGroup(old); told }
say('ctx.getEngine') { ctx.engine instanceof StandardJMeterEngine }
say('ctx.setEngine') { def old = ctx.engine; ctx.setEngine(null); def told = ctx.engine; ctx.setEngine(old); told }
say('ctx.isSamplingStarted') { ctx.samplingStarted }
say('ctx.setSamplingStarted') { ctx.setSamplingStarted(false); def told = ctx.samplingStarted; ctx.setSamplingStarted(true); told }
say('ctx.getTestLogicalAction') { ctx.testLogicalAction }
say('ctx.setTestLogicalAction') { ctx.setTestLogicalAction(JMeterContext.TestLogicalAction.BREAK_CURRENT_LOOP); def told = ctx.testLogicalAction.name(); ctx.setTestLogicalAction(JMeterContext.TestLogicalAction.CONTINUE); told }
say('ctx.isRestartNextLoop') { ctx.restartNextLoop }
say('ctx.setRestartNextLoop') { ctx.setRestartNextLoop(true); def told = ctx.testLogicalAction.name() + ctx.restartNextLoop; ctx.setRestartNextLoop(false); told + ctx.testLogicalAction.name() }
say('ctx.isStartNextThreadLoop') { ctx.startNextThreadLoop }
say('ctx.setStartNextThreadLoop') { ctx.setStartNextThreadLoop(true); def told = ctx.testLogicalAction.name() + ctx.startNextThreadLoop; ctx.setStartNextThreadLoop(false); told + ctx.testLogicalAction.name() }
say('ctx.getSamplerContext') { ctx.samplerContext.put('a', 'b'); ctx.samplerContext }
say('ctx.cleanAfterSample') { ctx.cleanAfterSample(); shown(ctx.samplerContext) + shown(ctx.previousResult) }
say('ctx.isRecording') { ctx.recording }
say('ctx.setRecording') { ctx.setRecording(true); def told = ctx.recording; ctx.setRecording(false); told }
say('new JMeterContext') { new JMeterContext() }

// JMeterContextService
say('JMeterContextService.getContext') { JMeterContextService.context.is(ctx) }
say('JMeterContextService.replaceContext') { JMeterContextService.replaceContext(ctx); JMeterContextService.context.is(ctx) }
say('JMeterContextService.getNumberOfThreads') { JMeterContextService.numberOfThreads }
say('JMeterContextService.getTotalThreads') { JMeterContextService.totalThreads }
say('JMeterContextService.getThreadCounts') { def c = JMeterContextService.threadCounts; [c.activeThreads, c.startedThreads, c.finishedThreads].join(' ') }
say('JMeterContextService.getTestStartTime') { "${isNear(JMeterContextService.testStartTime)} ${JMeterContextService.testStartTime == Long.parseLong(vars.get('TESTSTART.MS'))}" }
say('JMeterContextService.getClientSideVariables') { JMeterContextService.clientSideVariables }
say('JMeterContextService.addTotalThreads') { JMeterContextService.addTotalThreads(5); def told = JMeterContextService.totalThreads; JMeterContextService.addTotalThreads(-5); told }
say('JMeterContextService.clearTotalThreads') { JMeterContextService.clearTotalThreads(); def told = JMeterContextService.totalThreads; JMeterContextService.addTotalThreads(2); told }
say('JMeterContextService.startTest') { def old = JMeterContextService.testStartTime; JMeterContextService.startTest(); JMeterContextService.testStartTime == old }
say('JMeterContextService.initClientSideVariables') { JMeterContextService.initClientSideVariables(vars); def told = JMeterContextService.clientSideVariables?.get('who'); JMeterContextService.resetClientSideVariables(); told }
say('JMeterContextService.resetClientSideVariables') { JMeterContextService.resetClientSideVariables(); JMeterContextService.clientSideVariables }

// JMeterThread
def thread = ctx.thread
say('thread.getThreadName') { thread.threadName }
say('thread.setThreadName') { def old = thread.threadName; thread.setThreadName('other'); def told = thread.threadName + ' ' + vars.getThreadName(); thread.setThreadName(old); told }
say('thread.getThreadNum') { thread.threadNum }
say('thread.setThreadNum') { thread.setThreadNum(7); def told = thread.threadNum; thread.setThreadNum(ctx.threadNum); told }
say('thread.getStartTime') { (thread.endTime - thread.startTime).intdiv(1000) }
say('thread.setStartTime') { def old = thread.startTime; thread.setStartTime(5); def told = thread.startTime; thread.setStartTime(old); told }
say('thread.getEndTime') { thread.endTime - now > 50000 && thread.endTime - now < 600000 }
say('thread.setEndTime') { def old = thread.endTime; thread.setEndTime(old); thread.endTime == old }
say('thread.getTestTree') { thread.testTree instanceof ListedHashTree }
say('thread.getNotifier') { thread.notifier instanceof ListenerNotifier }
say('thread.interrupt') { thread.interrupt(); Thread.interrupted() }
say('thread.setScheduled') { thread.setScheduled(true) }
say('thread.setEngine') { thread.setEngine(ctx.engine) }
say('thread.setThreadGroup') { thread.setThreadGroup(ctx.threadGroup) }
say('thread.setInitialDelay') { thread.setInitialDelay(0) }
say('thread.setInitialContext') { thread.setInitialContext(ctx); vars.get('who') }
say('thread.putVariables') { thread.putVariables(new JMeterVariables()) }
say('thread.setOnErrorStopTest') { thread.setOnErrorStopTest(false) }
say('thread.setOnErrorStopTestNow') { thread.setOnErrorStopTestNow(false) }
say('thread.setOnErrorStopThread') { thread.setOnErrorStopThread(false) }
say('thread.setOnErrorStartNextLoop') { thread.setOnErrorStartNextLoop(false) }
say('new JMeterThread') { def tree = new ListedHashTree(new LoopController()); new JMeterThread(tree, null, null).threadName }

// AbstractThreadGroup, ThreadGroup
def group = ctx.threadGroup
say('group.getName') { group.name }
say('group.getSchema') { group.schema != null }
say('group.getProps') { group.props != null }
say('group.isDone') { group.done }
say('group.getSamplerController') { def c = group.samplerController; c.class.simpleName + ' ' + c.getPropertyAsString('LoopController.loops') + ' ' + c.name }
say('group.getNumThreads') { group.numThreads }
say('group.setNumThreads') { group.setNumThreads(9); def told = group.numThreads; group.setNumThreads(2); told }
say('group.getNumberOfThreads') { group.numberOfThreads }
say('group.numberOfActiveThreads') { group.numberOfActiveThreads() }
say('group.getOnErrorStartNextLoop') { group.onErrorStartNextLoop }
say('group.getOnErrorStopThread') { group.onErrorStopThread }
say('group.getOnErrorStopTest') { group.onErrorStopTest }
say('group.getOnErrorStopTestNow') { group.onErrorStopTestNow }
say('group.isSameUserOnNextIteration') { group.sameUserOnNextIteration }
say('group.setIsSameUserOnNextIteration') { group.setIsSameUserOnNextIteration(true); group.sameUserOnNextIteration }
say('group.verifyThreadsStopped') { group.numberOfActiveThreads() > 0 }
say('group.stopThread') { group.stopThread('nobody', false) }
say('group.getScheduler') { group.scheduler }
say('group.setScheduler') { group.setScheduler(true); group.scheduler }
say('group.getDuration') { group.duration }
say('group.setDuration') { def old = group.duration; group.setDuration(5); def told = group.duration; group.setDuration(old); told }
say('group.getDelay') { group.delay }
say('group.setDelay') { def old = group.delay; group.setDelay(5); def told = group.delay; group.setDelay(old); told }
say('group.getRampUp') { group.rampUp }
say('group.setRampUp') { def old = group.rampUp; group.setRampUp(5); def told = group.rampUp; group.setRampUp(old); told }
say('group.addIterationListener') { def l = { e -> } as LoopIterationListener; group.addIterationListener(l); group.removeIterationListener(l) }
say('group.removeIterationListener') { group.removeIterationListener({ e -> } as LoopIterationListener) }
say('group.addTestElementOnce') { def c = new GenericController(); group.addTestElementOnce(c) }
say('group.breakThreadLoop') { group.respondsTo('breakThreadLoop').size() }
say('group.startNextLoop') { group.respondsTo('startNextLoop').size() }
say('group.next') { group.next() }
say('group.initialize') { group.initialize() }
say('group.triggerEndOfLoop') { group.triggerEndOfLoop() }
say('group.addTestElement') { group.addTestElement(new GenericController()) }
say('group.setSamplerController') { def old = group.samplerController; def mine = new LoopController(); mine.name = 'mine'; group.setSamplerController(mine); def told = group.samplerController.name; group.setSamplerController(old); told + ' ' + group.samplerController.name }
say('group.cloneTree') { AbstractThreadGroup.cloneTree(new ListedHashTree(new LoopController())).size() }
say('group.properties') { ['ThreadGroup.on_sample_error', 'ThreadGroup.num_threads', 'ThreadGroup.ramp_time', 'ThreadGroup.duration', 'ThreadGroup.same_user_on_next_iteration', 'TestElement.comments', 'TestElement.test_class', 'TestElement.gui_class'].collect { group.getPropertyAsString(it) }.join('|') }
say('group.getComment') { group.comment }
say('group.isEnabled') { group.enabled }
say('group.isRunningVersion') { group.runningVersion }
say('group.getThreadContext') { group.threadContext.is(ctx) }
say('group.getThreadName') { group.threadName }
say('group.isTemporary') { group.isTemporary(group.getProperty('ThreadGroup.num_threads')) }

// StandardJMeterEngine
def engine = ctx.engine
say('engine.isActive') { engine.active }
say('engine.stopThread') { StandardJMeterEngine.stopThread('nobody') }
say('engine.stopThreadNow') { StandardJMeterEngine.stopThreadNow('nobody') }
say('engine.setProperties') { def p = new Properties(); p.setProperty('of.engine', 'x'); engine.setProperties(p); props.getProperty('of.engine') }
say('engine.register') { StandardJMeterEngine.register([testStarted: { -> }, testEnded: { -> new File('registered.txt').text = 'ended' }] as TestStateListener) }
say('engine.reset') { engine.respondsTo('reset').size() }
say('new StandardJMeterEngine') { new StandardJMeterEngine().active }

// JMeterVariables
say('vars.getThreadName') { vars.threadName }
say('vars.getIteration') { vars.iteration }
say('vars.put') { vars.put('x', '1'); vars.get('x') }
say('vars.putObject') { vars.putObject('o', [1, 2]); vars.getObject('o').toString() + vars.get('o') }
say('vars.remove') { def gone = vars.remove('x'); shown(gone) + shown(vars.get('x')) }
say('vars.putAll') { vars.putAll([p: 'q']); def more = new JMeterVariables(); more.put('r', 's'); vars.putAll(more); vars.get('p') + vars.get('r') }
say('vars.getIterator') { vars.iterator.collect { it.key }.findAll { it in ['p', 'r', 'who'] }.sort().toString() }
say('vars.entrySet') { vars.entrySet().collect { it.key }.findAll { it in ['p', 'r', 'who'] }.sort().toString() }
say('vars.isSameUserOnNextIteration') { vars.sameUserOnNextIteration }
say('vars.incIteration') { def old = vars.iteration; vars.incIteration(); vars.iteration - old }

new File(vars.get('file')).text = out.toString()
return 'said'
