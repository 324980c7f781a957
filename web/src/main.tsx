import { render } from 'preact'
import { App } from './app'
import './style/base.css'
import './style/page.css'
import './style/answer.css'
import './style/chart.css'

render(<App />, document.getElementById('page')!)
